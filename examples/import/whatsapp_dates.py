"""The stamps of exported chats of WhatsApp: dates and clocks as phones of all languages write them.

The forms are those of the locales of Unicode (CLDR) that phones use for a short date and a time, in brackets or before a dash.
"""
import datetime
import re
import typing
import unicodedata

# Marks of direction, and the byte order mark; for str.strip() and for a class of a pattern.
MARKS = '\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c\ufeff'
MARK = re.compile(f'[{MARKS}]')
REACH = 90  # characters in which a stamp ends

# The words of both halves of the day, without spaces and points.
AM = set('am a inthemorning delamañana damanhã vorm vm ص صباحا صباحًا ق قظ ظهر قبلازظهر قبلالظهر 上午 午前 오전 凌晨 清晨 早上 清早 sa πμ de öö fm pg pagi '
         'पूर्वाह्न मपू सकाळी পূর্বাহ্ণ முற்பகல் ಪೂರ್ವಾಹ್ನ ಬೆಳಗ್ಗೆ ఉద ఉపూ પૂર્વાહ્ન សាំ ព្រឹក នံနက် නැගෙනහිර පෙව '
         'paradites eparadites صبح pd пробанд пробед проб прб ап ap бн дп дпп прпп преподне prepodne prijepodne pripoldne dop dopoledne dopoludnia '
         'priešpiet пладне претпладне лифт утра ночи למחרת לפנהצ לפנה״צ לפנה"צ قد ጥዋት sabah saba yb ᎠᎹ rn '
         'dopoldne fh manhã paradite priekšp priekšpusdiena priekšpusdienā prp safiya sf претпл таңкы тң үө بن غم عم পূৰ্বাহ্ন ก่อนเที่ยง ກ່ອນທ່ຽງ 上晝'.split())
PM = set('pm p intheafternoon intheevening atnight delatarde delanoche datarde danoite nachm nm م مساء مساءً ب بظ بعدازظهر بعدالظهر 下午 午後 오후 晚上 中午 傍晚 晚 ch μμ du ös em ptg tgh petang tengahhari malam '
         'अपराह्न मउ दुपारी संध्याकाळी রাত অপরাহ্ণ பிற்பகல் ಅಪರಾಹ್ನ ಮಧ್ಯಾಹ್ನ సాయం అప અપરાહ્ન ល្ងាច ညနေ පව '
         'pasdites epasdites شام رات دوپہر md слоб слобед сб ип ip үх попладне поподне popodne poslijepodne popoldne odp odpoledne odpoludnia '
         'popiet вечера дня אחהצ אחה״צ אחה"צ ከሰዓት yh '
         'eh gd in pasdite pop pēcp pēcpusd pēcpusdiena pēcpusdienā tarde yamma ym попл пп тк түштөнкийинки دن غو অপৰাহ্ন หลังเที่ยง ຫຼັງທ່ຽງ 下晝'.split())
MIDDAY = {'中午', 'tgh', 'tengahhari'}
# Words between a date and a clock.
BETWEEN = set('น klock at um ob klo kl om à á a alle ore às as las los в у о lúc 於 de den den. ve la'.split())
MONTHS = {name: number for number, names in enumerate((
    'jan ene gen янв січ sty led oca', 'feb fev fév febr févr фев лют lut úno şub', 'mar mär mrt märz mars мар бер',
    'apr abr avr апр кві kwi dub nis', 'may mai mei maj mag май тра мая kvě', 'jun giu juin июн чер cze čvn haz',
    'jul lug juil июл лип lip čvc tem', 'aug ago aoû août авг сер sie srp ağu', 'sep set sept сен вер wrz zář eyl',
    'oct okt ott out окт жов paź říj eki', 'nov ноя лис kas lis', 'dec dez dic déc дек гру gru pro ara'), 1)
    for name in names.split()}
# The first years of the eras of Japan, less one; and of other calendars.
ERAS = {'R': 2018, '令和': 2018, 'H': 1988, '平成': 1988, 'S': 1925, '昭和': 1925, '民國': 1911, '民国': 1911, 'MINGUO': 1911, 'ROC': 1911,
        'REIWA': 2018, 'HEISEI': 1988}

ERA = r'(?P<era{0}>[RHS]|令和|平成|昭和|民國|民国|Minguo )?'
NUMBERS = (ERA.format(1) + r'(?P<a>\d{1,4})(?P<s>\s?[./-]\s?|年\s?|년\s?)(?P<b>\d{1,2})(?:(?P=s)|月\s?|월\s?)'
           + ERA.format(2) + r'(?P<c>\d{1,4})(?:[.日일]|\sг\.?)?(?:\s?(?P<cal>BE|B\.E\.|พ\.ศ\.?|AH|AP|هـ\.?|ه‍?|ه\.ش\.?|AD|Reiwa|Heisei|Minguo|ROC|[RHS](?=\W)))?')
NAMED = r'(?P<day>\d{1,2})\.?\s(?:de\s)?(?P<month>[^\W\d_]{3,12})\.?(?:\sde)?,?(?:\s(?P<year>\d{4}))?'
NAMED_US = r'(?P<month2>[^\W\d_]{3,12})\.?\s(?P<day2>\d{1,2})(?:,\s(?P<year2>\d{4}))?'
DATE = f'(?:{NUMBERS}|{NAMED}|{NAMED_US})'
WORD = r'[^\d\s\[\],:<>()/–—-][^\d\[\],:<>()/–—-]{0,17}'
CLOCK = (rf'(?:(?P<before>{WORD}?)\s?)?(?P<hour>\d{{1,2}})(?:[:.]|\s?h\s?)(?P<minute>\d{{2}})'
         rf'(?:(?:[:.]|\smin\s)(?P<second>\d{{2}})(?:\ss)?)?'
         rf'(?:\s?(?P<after>{WORD}?))?')
BRACKETED = re.compile(rf'\s?\[(?:{DATE}[,\s]+{CLOCK}|{CLOCK.replace("P<", "P<x")}[,\s]+{DATE.replace("?P<", "?P<x").replace("P=s", "P=xs")})\s?\]\s?')
PLAIN = re.compile(
    rf'\s?(?:{DATE}(?:[,\s]\s?){CLOCK}|{CLOCK.replace("P<", "P<x")},\s{DATE.replace("?P<", "?P<x").replace("P=s", "P=xs")})'
    r'\s?(?P<end>\s[-–—]\s|:\s|,\s|\s?[-–—]$)')
# The first forms of these, which most chats have: they have fewer groups, and so take less time.
PLAIN_NUMBERS = re.compile(rf'\s?{NUMBERS}(?:[,\s]\s?){CLOCK}\s?(?P<end>\s[-–—]\s|:\s|,\s|\s?[-–—]$)')
BRACKETED_NUMBERS = re.compile(rf'\s?\[{NUMBERS}[,\s]+{CLOCK}\s?\]\s?')

SPACES = re.compile(r'[\s.\u200b-\u200d]')
# The names of the groups of each pattern, in the order of the groups.
NAMES = {pattern: [name.removeprefix('x') for name in sorted(pattern.groupindex, key=pattern.groupindex.get)]
         for pattern in (BRACKETED, PLAIN, BRACKETED_NUMBERS, PLAIN_NUMBERS)}
CLOCK_NAMES = {'before', 'hour', 'minute', 'second', 'after', 'end'}
# A usual day and clock, whose texts say all of them.
USUAL = re.compile(r'\[?[0-9./-]{6,10} [0-9:.]{4,8}(?:\s?[AaPp]\.?\s?[Mm]\.?)?')


class Day:
    """The date of a stamp, whose order may be unknown."""

    def __init__(self, found, style, is_persian, is_korean):
        """found has the groups of the stamp; style is whether it is in brackets, and whether the time comes first."""
        self.found, self.style, self.is_persian, self.is_korean = found, style, is_persian, is_korean
        self.has_months = 'month' in found or 'month2' in found
        self.has_year = not self.has_months or 'year' in found or 'year2' in found
        self.numbers = None if self.has_months else (found['a'], found['b'], found['c'])
        self.separator = found.get('s', '').strip()
        self.dates = {}

    @property
    def is_order_plain(self):
        """Whether the date has one meaning."""
        return self.has_months or len(self.numbers[0]) > 2 or 'era1' in self.found or self.separator in ('.', '年', '년')

    def numbered(self, order):
        """The date by the order of its numbers ('dmy', 'mdy', 'ymd'), as year, month and day; the year may be None."""
        if self.has_months:
            name = (self.found.get('month') or self.found.get('month2')).casefold()
            month = MONTHS.get(name[:4]) or MONTHS.get(name[:3])
            year = self.found.get('year') or self.found.get('year2')
            return (int(year) if year else None), month, int(self.found.get('day') or self.found.get('day2'))
        if len(self.numbers[0]) > 2 or 'era1' in self.found or self.is_korean:
            order = 'ymd'
        elif self.separator == '.' and order == 'mdy':
            order = 'dmy'
        fields = dict(zip(order, self.numbers))
        return *self.western(fields['y'], int(fields['m']), int(fields['d'])),

    def western(self, digits, month, day):
        """A date of another calendar as one of the western calendar."""
        year, calendar = int(digits), (self.found.get('cal') or '').replace('.', '').strip()
        era = (self.found.get('era1') or self.found.get('era2') or (calendar if calendar.upper() in ERAS else '')).strip().upper()
        if era in ERAS:
            return year + ERAS[era], month, day
        if calendar in ('BE', 'พศ') or year >= 2400:
            return (year + 2500 if year < 100 else year) - 543, month, day
        if calendar in ('AP', 'هش') or self.is_persian and (1300 <= year < 1500):
            return solar(year + 1400 if year < 50 else year + 1300 if year < 100 else year, month, day)
        if calendar in ('AH', 'هـ', 'ه') or 1300 <= year < 1500:
            return lunar(year + 1400 if year < 100 else year, month, day)
        return (year + 2000 if year < 100 else year), month, day

    def in_order(self, order, year=None):
        """The date by the order of its numbers, with `year` if it has none; None if there is no such day."""
        key = order if self.has_year else (order, year)
        if key not in self.dates:
            try:
                own, month, day = self.numbered(order)
                self.dates[key] = datetime.date(own if own is not None else year or 2000, month, day)
            except (TypeError, ValueError, OverflowError):
                self.dates[key] = None
        return self.dates[key]


class Clock:
    """A clock, with the words around it that say the half of the day."""

    def __init__(self, hour, minute, second, words):
        self.hour, self.minute, self.second = int(hour), int(minute), int(second or 0)
        self.is_foreign = any(not text.isascii() or re.search(r'[ap]\.? m', text) for text in words)
        self.words, self.unknown_half = words, None

    def half_is_fine(self, is_bracketed):
        """Applies the words for the half of the day; False if one of them is something else."""
        for text in self.words:
            for word in text.split('  '):
                word = SPACES.sub('', word).casefold()
                if not word or word in BETWEEN:
                    continue
                if word in PM or word in AM:
                    self.shift(word)
                elif is_bracketed or len(word) <= 4 and not word.isascii():
                    self.unknown_half = word
                else:
                    # 'um 5 pm': a word between, and one that says the half.
                    parts = [part for part in re.split(r'\s+', text.casefold()) if part.strip('.')]
                    rest = [part.replace('.', '') for part in parts if part not in BETWEEN]
                    if not all(part in PM or part in AM for part in rest):
                        return False
                    for part in rest:
                        self.shift(part)
        return True

    def shift(self, word):
        if word in PM and self.hour < 12 and not (word in MIDDAY and self.hour == 11):
            self.hour += 12
        elif word in AM and self.hour == 12:
            self.hour = 0

    def time(self):
        """The time of the day; None if there is no such time."""
        try:
            return datetime.time(self.hour % 24 if self.hour == 24 else self.hour, self.minute, self.second)
        except ValueError:
            return None


class Stamp(typing.NamedTuple):
    """A day and a time of the day, and where the stamp ends in its line."""

    day: Day
    clock: datetime.time
    end: int
    unknown_half: str | None
    is_foreign: bool

    def time(self, order, year=None):
        """The time without a zone; None if there is no such day."""
        date = self.day.in_order(order, year)
        return date and datetime.datetime.combine(date, self.clock)


class Plain(dict):
    """What a character of a stamp is read as: digits of all scripts as those of ASCII, spaces and commas as one of each."""

    def __missing__(self, code):
        c = chr(code)
        self[code] = str(unicodedata.decimal(c, c)) if c.isdigit() else c
        return self[code]


PLAIN_TEXT = Plain({ord(c): ' ' for c in '\u00a0\u202f\u2009\u3000'} | {ord(c): ',' for c in '،、，'} | {ord('：'): ':'})
PERSIAN = re.compile('[\u06f0-\u06f9]')
DIGIT = re.compile('[0-9]')
# The days and clocks that were found in usual stamps, by their texts.
DAYS, CLOCKS = {}, {}


def stamp(line):
    """The stamp at the start of a line; None if there is none."""
    sign = '] ' if line[:1] == '[' else ' - '
    end = line.find(sign, 0, REACH)
    if end < 0:
        return general_stamp(line)
    text = line[:end].replace(',', '', 1)
    day, _, clock = text.partition(' ')
    if day in DAYS and (clock in CLOCKS or is_clock(clock)):
        return Stamp(DAYS[day], CLOCKS[clock], end + len(sign), None, False)
    found = general_stamp(line)
    if found and found.end == end + len(sign) and not found.unknown_half and USUAL.fullmatch(text):
        DAYS[day], CLOCKS[clock] = found.day, found.clock
    return found


def is_clock(text):
    """Whether a text is a clock of 24 hours, which is then known."""
    if len(text) not in (5, 8) or not re.fullmatch('[0-9]{2}(:[0-9]{2}){1,2}', text):
        return False
    try:
        CLOCKS[text] = datetime.time.fromisoformat(text)
    except ValueError:
        return False
    return True


def general_stamp(line):
    """The same for stamps of all forms."""
    start = line[:REACH]
    if start.isascii():
        if not DIGIT.search(start, 0, 30):
            return None
        text, is_marked, is_persian = start, False, False
    else:
        if not any(c.isdigit() for c in line[:30]):
            return None
        text = MARK.sub('', start)
        is_marked, is_persian = text != start, bool(PERSIAN.search(text))
        text = text.translate(PLAIN_TEXT)
    if text.lstrip()[:1] == '[':
        match = BRACKETED_NUMBERS.match(text) or BRACKETED.match(text)
    else:
        match = PLAIN_NUMBERS.match(text) or PLAIN.match(text)
    if not match or match.re in (PLAIN, PLAIN_NUMBERS) and match['end'] in (',', ', ') and not re.search('년|오[전후]', match[0]):
        return None
    end = match.end()
    if is_marked:
        # The marks before the last character of the stamp count, too.
        end = [position for position, c in enumerate(start) if not MARK.match(c)][end - 1] + 1
    found = {name: value for name, value in zip(NAMES[match.re], match.groups()) if value is not None}
    style = match.re in (BRACKETED, BRACKETED_NUMBERS), match.re in (BRACKETED, PLAIN) and match['xhour'] is not None
    clock = Clock(found['hour'], found['minute'], found.get('second'),
                  [found[name] for name in ('before', 'after') if name in found])
    if not clock.half_is_fine(style[0]) or not (time := clock.time()):
        return None
    is_korean = bool(re.search('오[전후]', match[0]))
    day = Day({name: value for name, value in found.items() if name not in CLOCK_NAMES}, style, is_persian, is_korean)
    return Stamp(day, time, end, clock.unknown_half, clock.is_foreign)


def solar(year, month, day):
    """A date of the calendar of Iran as a western one, by the 33-year cycle of leap years."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError
    year -= 979
    days = 365 * year + year // 33 * 8 + (year % 33 + 3) // 4 + 31 * min(month - 1, 6) + 30 * max(month - 7, 0) + day - 1
    date = datetime.date(1600, 3, 20) + datetime.timedelta(days)
    return date.year, date.month, date.day


def lunar(year, month, day):
    """A date of the civil Islamic calendar, which may be a day from the one of a country, as a western one."""
    if not (1 <= month <= 12 and 1 <= day <= 30):
        raise ValueError
    days = (11 * year + 3) // 30 + 354 * year + 30 * month - (month - 1) // 2 + day - 385
    date = datetime.date(622, 7, 19) + datetime.timedelta(days)
    return date.year, date.month, date.day
