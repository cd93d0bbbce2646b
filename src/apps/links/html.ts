/** Markup in which all untrusted text is inert. Only `html` makes it. */
class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type { Html };

/** A part of a template: a text, which is escaped, or markup. */
type Part = string | Html | readonly Html[];

/** Makes markup from a template of ours: each value is escaped unless it is markup itself. Attribute values need quotation marks. */
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
