const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const numbers = ['no', 'a', 'two', 'three', 'four', 'five', 'six', 'seven'];

const monthEnd = '(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\\.?';
const monthName = `(${months.join('|')})${monthEnd}`;
const dayNumber = '(\\d{1,2})(?:st|nd|rd|th)?';
const year = '(?:,?\\s+(20\\d\\d))?';
const dayMonth = new RegExp(`\\b${dayNumber}(?:\\s+of)?\\s+${monthName}(?!\\w)${year}`, 'i');
const monthDay = new RegExp(`\\b${monthName}\\s+(?:the\\s+)?${dayNumber}\\b${year}`, 'i');
const weekday = /\b(sun|mon|tue|wed|thu|fri|sat)(?:day|s|sday|nesday|r|rs|rsday|urday)?\b/i;
const ahead = new RegExp(`\\bin\\s+(\\d+|${numbers.join('|')})\\s+(day|week)s?\\b`, 'i');

/** The day in a text, as YYYY-MM-DD; relative days count from `today`. */
export function readDate(text: string, today: string): string | undefined {
  return isoDate(text) ?? calendarDate(text, today) ?? relativeDate(text, today);
}

/** Adds days to a date. */
export function addDays(date: string, days: number): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + days);
  return day.toISOString().slice(0, 10);
}

function isoDate(text: string): string | undefined {
  const [, years, month, day] = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/.exec(text) ?? [];
  return years === undefined ? undefined : existing(years, Number(month), Number(day));
}

function calendarDate(text: string, today: string): string | undefined {
  const [, dayFirst, ofMonth, ofYear] = dayMonth.exec(text) ?? [];
  const [, month = ofMonth, day = dayFirst, inYear = ofYear] = monthDay.exec(text) ?? [];
  if (month === undefined || day === undefined) return undefined;
  const monthNumber = months.indexOf(month.toLowerCase()) + 1;
  if (inYear !== undefined) return existing(inYear, monthNumber, Number(day));
  const thisYear = existing(today.slice(0, 4), monthNumber, Number(day));
  if (thisYear === undefined || thisYear >= today) return thisYear;
  return existing(String(Number(today.slice(0, 4)) + 1), monthNumber, Number(day));
}

function relativeDate(text: string, today: string): string | undefined {
  if (/\bday after tomorrow\b/i.test(text)) return addDays(today, 2);
  if (/\b(?:tomorrow|tmrw)\b/i.test(text)) return addDays(today, 1);
  if (/\b(?:today|tonight)\b/i.test(text)) return today;
  const [, count, unit] = ahead.exec(text) ?? [];
  if (count !== undefined) return addDays(today, countOf(count) * (unit === 'week' ? 7 : 1));
  const [, name] = weekday.exec(text) ?? [];
  if (name !== undefined) return addDays(today, daysUntil(name, today));
  return /\bnext week\b/i.test(text) ? addDays(today, 7) : undefined;
}

function countOf(count: string): number {
  return numbers.includes(count.toLowerCase())
    ? numbers.indexOf(count.toLowerCase())
    : Number(count);
}

/* On a Friday, "Friday" is the next one: 1 to 7 days ahead. */
function daysUntil(name: string, today: string): number {
  const from = new Date(`${today}T00:00:00Z`).getUTCDay();
  return ((weekdays.indexOf(name.toLowerCase()) - from + 6) % 7) + 1;
}

function existing(years: string, month: number, day: number): string | undefined {
  const date = [years, month, day].map((part) => String(part).padStart(2, '0')).join('-');
  const parsed = new Date(`${date}T00:00:00Z`);
  return Number.isNaN(parsed.getTime()) || addDays(date, 0) !== date ? undefined : date;
}
