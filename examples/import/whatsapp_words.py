"""What WhatsApp itself writes into an exported chat, in the languages of phones: notices, placeholders and deleted messages."""
import re

# Parts of notices. They count only where WhatsApp has put a mark of direction before the text, which people do not type.
NOTICES = re.compile('|'.join((
    # Encryption, security codes, business accounts
    r'end-?to-?end', r'ende-?zu-?ende', r'ende-til-ende', r'extremo a extremo', r"extrem a extrem", r'bout en bout',
    r'ponta a ponta', r'ponto a ponto', r'сквозн\w+ шифрован', r'наскрізн\w+ шифрув', r'szyfrowan', r'koncov\w+ šifr',
    r'šifrov\w+ ', r'uçtan uca', r'مشفر', r'تشفير', r'רמזגذاری', r'رمزگذاری', r'מקצה לקצה', r'מוצפנ', r'एंड-टू-एंड',
    r'এন্ড-টু-এন্ড', r'terenkripsi', r'enkripsi', r'disulitkan', r'mã h[óo][aá] đầu cuối', r'được mã h', r'เข้ารหัส',
    r'エンドツーエンド', r'エンドツー', r'暗号化', r'종단\s?간', r'암호화', r'端到端', r'端對端', r'点对点加密', r'加密',
    r'totalsträckskrypt', r'krypter', r'täysin salat', r'päästä päähän', r'végpont', r'criptat\w* integral', r'criptat\w',
    r'διατερματικ', r'шифроване от край', r'šifriran', r'security code', r'sicherheitsnummer', r'código de segur',
    r'code de sécurité', r'codice di sicurezza', r'код безопасности', r'код безпеки', r'beveiligingscode', r'kod zabezpiecze',
    r'güvenlik kodu', r'رمز الأمان', r'kode keamanan', r'mã bảo mật', r'セキュリティコード', r'보안 코드', r'安全代码', r'安全碼',
    # Groups
    r'(created|changed) (this|the) group', r'created group', r'added you', r'you were added', r'you added ', r' added ',
    r' removed ', r'you removed ', r' left$', r'joined using', r'now an admin', r'no longer an admin',
    r'changed (the|this) (subject|group|settings)', r'changed (their|to) ', r'disappearing messages',
    r'(hat|haben|hast|habe)\b.{0,80}(hinzugefügt|entfernt|erstellt|verlassen|geändert)', r'gruppe (verlassen|erstellt)',
    r'(a créé|avez créé|a ajouté|avez ajouté|a quitté|avez quitté|a supprimé|a changé|a modifié|avez modifié)',
    r'(creó el grupo|creaste el grupo|creaste este grupo|creó este grupo|añadió a|te añadió|salió del grupo|eliminó a|cambió)',
    r'(criou (o|este) grupo|adicionou|saiu$|removeu|mudou|alterou|foi adicionad)',
    r'(ha creato|hai creato|ha aggiunto|hai aggiunto|ha abbandonato|ha rimosso|ha cambiato)',
    r'(heeft|hebt|is|bent) .{0,80}(toegevoegd|verwijderd|gemaakt|gewijzigd|aangemaakt|verlaten)',
    r'(создал\w*|добавил\w*|удалил\w*|изменил\w*|вышел|вышла|покинул\w*|присоединил\w*)\b',
    r'(створив\w*|створила|додав|додала|додали|вилучив|вилучила|змінив|змінила|вийшов|вийшла)\b',
    r'(utworzył|dodał|usunął|opuścił|zmienił)\w*', r'(vytvořil|přidal|odebral|opustil|změnil)\w*',
    r'(oluşturdu|ekledi|çıkardı|ayrıldı|değiştirdi)', r'(أنشأ|أضاف|غادر|غيّر|غير|أزال|تمت إضافت)', r'(יצר|הוסיף|עזב|הסיר|שינה)',
    r'(बनाया|जोड़ा|छोड़ दिया|बदल)', r'(membuat grup|menambahkan|keluar$|mengeluarkan|mengubah)',
    r'(đã tạo nhóm|đã thêm|đã rời|đã thay đổi|đã xóa)', r'(สร้างกลุ่ม|เพิ่ม|ออกจากกลุ่ม|เปลี่ยน|ลบ)',
    r'(グループを作成|追加しました|退出しました|変更しました)', r'(그룹을 만|초대|나갔|추가했|변경)',
    r'(创建了|建立了|添加了|加入了|新增了|退出了|離開了|离开了|更改了|变更了|變更了)',
    r'(skapade|lade till|lämnade|ändrade)', r'(loi ryhmän|lisäsi|poistui|muutti)')), re.I)

# What WhatsApp writes for a message that cannot be shown: one that was to be seen once, or that failed.
NOTHING = {'null'}

# What stands for a message that its sender, or an administrator, has deleted.
DELETED = {text.casefold() for text in (
    'This message was deleted', 'You deleted this message', 'This message was deleted by admin', 'Diese Nachricht wurde gelöscht',
    'Du hast diese Nachricht gelöscht', 'Se eliminó este mensaje', 'Este mensaje fue eliminado', 'Eliminaste este mensaje',
    'Has eliminado este mensaje', 'Este mensaje ha sido eliminado', 'Ce message a été supprimé', 'Vous avez supprimé ce message',
    'Ce message a été effacé', 'Vous avez effacé ce message', 'Questo messaggio è stato eliminato',
    'Hai eliminato questo messaggio', 'Questo messaggio è stato cancellato', 'Mensagem apagada', 'Esta mensagem foi apagada',
    'Essa mensagem foi apagada', 'Você apagou esta mensagem', 'Apagou esta mensagem', 'Eliminou esta mensagem',
    'Esta mensagem foi eliminada', 'Dit bericht is verwijderd', 'Dit bericht werd verwijderd', 'U hebt dit bericht verwijderd',
    'Je hebt dit bericht verwijderd', 'Данное сообщение удалено', 'Сообщение удалено', 'Вы удалили данное сообщение',
    'Это сообщение удалено', 'Вы удалили это сообщение', 'Це повідомлення видалено', 'Це повідомлення було видалено',
    'Ви видалили це повідомлення', 'Повідомлення видалено', 'Ta wiadomość została usunięta', 'Usunięto tę wiadomość',
    'Wiadomość usunięta', 'Usunąłeś tę wiadomość', 'Usunięto wiadomość', 'Tato zpráva byla odstraněna', 'Tato zpráva byla smazána',
    'Odstranili jste tuto zprávu', 'Smazali jste tuto zprávu', 'Táto správa bola odstránená', 'Odstránili ste túto správu',
    'Bu mesaj silindi', 'Bu mesajı sildiniz', 'تم حذف هذه الرسالة', 'لقد حذفت هذه الرسالة', 'حذفت هذه الرسالة', 'حذفتَ هذه الرسالة',
    'הודעה זו נמחקה', 'מחקת הודעה זו', 'ההודעה נמחקה', 'यह मैसेज हटा दिया गया', 'यह संदेश मिटाया गया', 'आपने यह मैसेज हटा दिया',
    'यह मैसेज डिलीट किया गया', 'आपने यह संदेश मिटा दिया', 'Pesan ini telah dihapus', 'Pesan ini dihapus', 'Anda menghapus pesan ini',
    'Anda telah menghapus pesan ini', 'Mesej ini telah dipadam', 'Anda telah memadam mesej ini', 'Tin nhắn này đã bị xóa',
    'Tin nhắn này đã bị xoá', 'Bạn đã xóa tin nhắn này', 'Bạn đã xoá tin nhắn này', 'ข้อความนี้ถูกลบแล้ว', 'ข้อความนี้ถูกลบ',
    'คุณลบข้อความนี้แล้ว', 'คุณลบข้อความนี้', 'このメッセージは削除されました', 'このメッセージを削除しました', '이 메시지가 삭제되었습니다',
    '이 메시지는 삭제되었습니다', '삭제된 메시지입니다', '이 메시지를 삭제했습니다', '此消息已删除', '您已删除此消息', '你已删除这条消息',
    '这条消息已被删除', '此訊息已刪除', '您已刪除此訊息', '你已刪除此訊息', 'Det här meddelandet raderades', 'Det här meddelandet har raderats',
    'Du raderade det här meddelandet', 'Denne besked blev slettet', 'Du slettede denne besked', 'Denne meldingen ble slettet',
    'Du slettet denne meldingen', 'Tämä viesti poistettiin', 'Poistit tämän viestin', 'Ezt az üzenetet törölték',
    'Törölted ezt az üzenetet', 'Acest mesaj a fost șters', 'Ați șters acest mesaj', 'Αυτό το μήνυμα διαγράφηκε',
    'Διαγράψατε αυτό το μήνυμα', 'این پیام حذف شد', 'شما این پیام را حذف کردید', 'Това съобщение бе изтрито', 'Ova poruka je izbrisana',
    'Aquest missatge s’ha suprimit', "S'ha eliminat aquest missatge", 'Hierdie boodskap is geskrap')}
# The first letters of these, with which few other texts begin.
STARTS = {text[:4] for text in DELETED | NOTHING}

# The same in other words and languages, where the text begins with a mark of direction.
DELETED_WORD = re.compile(
    'delet|gelöscht|elimin|supprim|effac|cancell|apag|verwijder|удал|видал|usuni|smaz|odstran|silin|sildi|حذف|נמחק|מחק|हटा|मिटा|डिलीट|'
    'dihapus|menghapus|padam|đã xóa|đã xoá|bị xóa|bị xoá|ถูกลบ|คุณลบ|削除|삭제|删除|刪除|radera|slett|poistet|poistit|töröl|șters|διαγρ|изтри|izbrisa', re.I)

# What stands for a file that was not exported: 'image omitted' and the like.
OMITTED = re.compile('|'.join((
    r'omitted$', r'weggelassen', r'omitid', r'\bomes[so]', r'absente?$', r'ocultad?[ao]', r'non inclus', r'\bomise?s?$', r'weggelaten',
    r'pominięt', r'vynech', r'пропущен', r'отсутствует', r'опущен', r'вилучен', r'не включен', r'не включ', r'dahil edilmedi',
    r'disertakan', r'dikeluarkan', r'bị bỏ qua', r'đã bị bỏ', r'ถูกละเว้น', r'ไม่รวม', r'ละไว้', r'省略', r'略過', r'略过', r'忽略',
    r'未包含', r'생략', r'제외', r'छोड़', r'शामिल नहीं', r'হয়নি', r'استبعاد', r'استثناء', r'محذوف', r'إدراج', r'הושמט', r'לא נכלל', r'utelämna', r'udelad',
    r'utelat', r'jätetty', r'kihagy', r'omis', r'παραλείφθ', r'εξαιρέθ', r'حذف شد', r'изключен', r'izostavlj', r'пропуснат')), re.I)
IN_BRACKETS = re.compile(r'<[^<>\n:]{3,60}>')  # <Media omitted>, in any language
ADDRESS = re.compile(r'://')
# A mark of the language of the phone in its first notice.
FOREIGN = re.compile(
    r'ende-?zu-?ende|extremo|bout en bout|ponta a ponta|ponto a ponto|crittograf|versleuteld|шифр|szyfr|šifr|uçtan|مشفر|תשفير|מוצפ|'
    r'एंड|terenkripsi|disulitkan|mã h|เข้ารหัส|totalsträck|krypter|salat|végpont|criptat|διατερ', re.I)


def name_of(title):
    """The name of a chat, without what WhatsApp puts before it in the name of an exported file."""
    words = r'with|mit|con|avec|com|met|с|з|med|ile|dengan|với|kanssa|z|s|cu|με|amb'
    title = re.sub(rf'^.{{0,20}}WhatsApp.{{0,12}}?\s(?:(?:{words})\s|[-–]\s)', '', title)
    return re.sub(r'\s?\(\d{1,3}\)$', '', title).strip() or 'whatsapp'
