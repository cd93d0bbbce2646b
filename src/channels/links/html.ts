/** Markup in which every text of others is inert. Only `html` makes it. */
class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type { Html };

/** What can stand in a template: a text, which is escaped, or markup. */
type Part = string | Html | readonly Html[];

/** Markup out of a template of ours: each value is escaped unless it is markup itself. Values of attributes need quotation marks around them. */
export function html(template: TemplateStringsArray, ...values: readonly Part[]): Html {
  const [first = '', ...rest] = template;
  return new Html(
    rest.reduce((markup, after, place) => markup + renderPart(values[place] ?? '') + after, first),
  );
}

/** No markup at all. */
export const nothing: Html = html``;

function renderPart(part: Part): string {
  if (part instanceof Html) return part.markup;
  return typeof part === 'string'
    ? part.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`)
    : part.map(({ markup }) => markup).join('');
}
