import { parseRows, type Span } from './styled-spans.ts';

/** The rows of a terminal, or a picture as a data URL, and how long it is shown. */
export type Frame = ({ rows: string[] } | { picture: string }) & {
  seconds: number;
  caption: string;
};

const cell = { width: 8.4, height: 18 };
const margin = 16;
const bar = 34;
const top = bar + 6;

/**
 * An animation of the frames as one file without scripts, fonts or links: the frames stand side by side, and CSS moves
 * the strip. It plays twice and stops at the last frame, which is also what is shown where nothing may move.
 */
export function animatedSvg(frames: readonly Frame[], columns: number, title: string): string {
  const rowCount = Math.max(...frames.map((frame) => ('rows' in frame ? frame.rows.length : 0)));
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = top + rowCount * cell.height + margin;
  const lines = new Lines();
  const pictures = new Pictures({ width: width - 2, height: height - bar - 2 });
  const strip = frames.map((frame, index) => {
    const shown =
      'rows' in frame
        ? parseRows(frame.rows).map((spans, row) => lines.use(spans, row))
        : [pictures.use(frame.picture)];
    const x = index * width;
    return `<g transform="translate(${x})"><text class="caption" x="${width / 2}" y="22">${escaped(frame.caption)}</text>${shown.join('')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" xml:space="preserve">
<title>${escaped(title)}</title>
<style>${styleSheet(frames, width)}</style>
<defs>${lines.definitions()}${pictures.definitions()}</defs>
<rect class="screen" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<path class="line" d="M.5 ${bar}.5h${width - 1}"/>
<g class="strip">
${strip.join('\n')}
</g>
</svg>
`;
}

/** The distinct lines of all frames: each is written once and used by every frame that shows it. */
class Lines {
  readonly #ids = new Map<string, string>();

  use(spans: Span[], row: number): string {
    const line = svgLine(spans);
    if (line === '') return '';
    const id = this.#ids.get(line) ?? `l${this.#ids.size}`;
    this.#ids.set(line, id);
    return `<use href="#${id}" y="${top + (row + 1) * cell.height}"/>`;
  }

  definitions(): string {
    return [...this.#ids].map(([line, id]) => `<g id="${id}">${line}</g>`).join('\n');
  }
}

/** The distinct pictures of all frames, which are shown below the bar. */
class Pictures {
  readonly #ids = new Map<string, string>();
  readonly #size: { width: number; height: number };

  constructor(size: { width: number; height: number }) {
    this.#size = size;
  }

  use(url: string): string {
    const id = this.#ids.get(url) ?? `p${this.#ids.size}`;
    this.#ids.set(url, id);
    return `<use href="#${id}" x="1" y="${bar + 1}"/>`;
  }

  definitions(): string {
    const { width, height } = this.#size;
    return [...this.#ids]
      .map(
        ([url, id]) =>
          `<image id="${id}" width="${width}" height="${height}" preserveAspectRatio="xMidYMin slice" href="${url}"/>`,
      )
      .join('\n');
  }
}

function svgLine(spans: Span[]): string {
  let column = 0;
  return spans
    .map(({ text, styles }) => {
      const indent = text.length - text.trimStart().length;
      const x = margin + (column + indent) * cell.width;
      column += text.length;
      const shown = text.trim();
      if (shown === '') return '';
      const length = round(shown.length * cell.width);
      const attributes = `x="${round(x)}" textLength="${length}"${styles.length > 0 ? ` class="${styles.join(' ')}"` : ''}`;
      const block = styles.includes('inverse')
        ? `<rect x="${round(x)}" y="-13.5" width="${length}" height="${cell.height}"/>`
        : '';
      return `${block}<text ${attributes}>${escaped(shown)}</text>`;
    })
    .join('');
}

function styleSheet(frames: readonly Frame[], width: number): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let elapsed = 0;
  const steps = frames.map(({ seconds }, index) => {
    const step = `${round((100 * elapsed) / total)}%{transform:translateX(${-index * width}px)}`;
    elapsed += seconds;
    return step;
  });
  const last = `transform:translateX(${-(frames.length - 1) * width}px)`;
  return `
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328}
.caption{font:13px system-ui,sans-serif;text-anchor:middle;fill:#57606a}
.screen{fill:#f6f8fa;stroke:#d0d7de}.line{stroke:#d0d7de}
.bold{font-weight:bold}.italic{font-style:italic}
rect{fill:#1f2328}.inverse{fill:#f6f8fa}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.caption{fill:#8d96a0}.screen{fill:#0d1117;stroke:#30363d}.line{stroke:#30363d}
rect{fill:#e6edf3}.inverse{fill:#0d1117}}
.strip{${last}}
@media(prefers-reduced-motion:no-preference){.strip{animation:play ${round(total)}s step-end 2 forwards}}
@keyframes play{${steps.join('')}100%{${last}}}
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
