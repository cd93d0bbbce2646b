const amount = '(\\d[\\d.,]*)(?![\\d.,])';
const before =
  'under|below|less than|cheaper than|max(?:imum)?\\.?(?: of)?|at most|up to|within|around|about|' +
  "not? more than|n['’]?t \\p{L}+ more than|(?:not|nothing) (?:over|above)|" +
  'only have|budget(?: is| of)?|<=?';
const after = 'or (?:less|under|cheaper)|max(?:imum)?\\b|at most|tops';
const currency = '(?:€|\\$|£|eur(?:os?)?|dollars?|usd|gbp|pounds?|bucks)(?!\\p{L})';
const noPrice = '(?!\\s*(?:day|week|hour|stop|people|person))';

const budgets = [
  new RegExp(`(?:${before})\\s*:?\\s*(?:${currency})?\\s*${amount}${noPrice}`, 'iu'),
  new RegExp(`(?<!\\p{L})${currency}\\s*${amount}`, 'iu'),
  new RegExp(`${amount}\\s*${currency}`, 'iu'),
  new RegExp(`${amount}\\s*(?:${after})`, 'iu'),
  new RegExp(`^\\s*${amount}\\s*$`, 'u'),
];

/** The maximum price in a text, if it names one. All prices are read as euros. */
export function readBudget(text: string): number | undefined {
  const digits = budgets
    .map((budget) => budget.exec(text)?.[1])
    .find((found) => found !== undefined);
  if (digits === undefined) return undefined;
  const withoutThousands = digits.replace(/[.,]$/, '').replace(/[.,](?=\d{3}(?!\d))/g, '');
  const price = Number(withoutThousands.replace(',', '.'));
  return price > 0 ? price : undefined;
}
