"""The order of days and months in a chat of WhatsApp, and the times of its entries."""
import datetime


class Dates:
    """What order the dates have, as all of them together show."""

    def __init__(self, stamps, is_foreign):
        # The first stamp of each day is enough: the others say the same of its order.
        firsts = (stamp for stamp, before in zip(stamps, [None, *stamps]) if not before or stamp.day is not before.day)
        self.stamps = [stamp for stamp in firsts if not stamp.day.is_order_plain]
        self.is_foreign = is_foreign
        self.reason = None

    def faults(self, order):
        """The days that do not exist or are to come, and how often the time goes back."""
        limit = datetime.datetime.now() + datetime.timedelta(days=2)
        times = [stamp.time(order) for stamp in self.stamps]
        good = [time for time in times if time and time <= limit]
        return len(times) - len(good), sum(a > b for a, b in zip(good, good[1:]))

    def order(self):
        """'dmy', 'mdy' or 'ymd'; None if the dates have both forms. Sets the reason if it was a guess."""
        if not self.stamps:
            return 'dmy'
        days, months, years = (self.faults(order) for order in ('dmy', 'mdy', 'ymd'))
        if years[0] < min(days[0], months[0]):
            return 'ymd'
        if days != months:
            return 'dmy' if days < months else 'mdy'
        form = [{len(number) < 2 for number in numbers if len(number) < 2 or number[0] == '0'}
                for numbers in list(zip(*(stamp.day.numbers for stamp in self.stamps)))[:2]]
        if any(len(forms) > 1 for forms in form):
            return None
        if self.is_foreign or form[1] == {False} or form == [set(), set()] or form[0] == {False} and form[1] != {True}:
            self.reason = 'dates could be of two days, and were taken as day/month; --month-first takes them as month/day'
            return 'dmy'
        self.reason = 'dates could be of two days, and were taken as month/day; --day-first takes them as day/month'
        return 'mdy'


def times(found, order, last_year):
    """The time of each entry; a date without a year gets the year that fits the dates beside it, or before last_year."""
    dated = (stamp.time(order) for _, stamp, _ in found if stamp and stamp.day.has_year)
    known = next((time.year for time in dated if time), None)
    year, result, before = known or last_year, [], None
    for _, stamp, _ in found:
        time = stamp and stamp.time(order, year)
        if time and before and not stamp.day.has_year and time < before - datetime.timedelta(days=7):
            time = stamp.time(order, year + 1)
        if time:
            year, before = time.year, time
        result.append(time)
    shift = 0 if known else max(0, year - last_year)
    if not shift:
        return result
    return [time and time.replace(year=time.year - shift, day=min(time.day, 28) if time.month == 2 else time.day)
            for time in result]
