import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Choice, Choices, Dialog, EditedText } from './dialog.ts';
import { fitOneLine } from './styled-text.ts';
import { FreeText, type TextPrompt, type Typed } from './free-text.ts';
import { type Key, listStrokes } from './keys.ts';
import { addAnswerer, type Content, Page } from './page.ts';
import { Picker } from './picker.ts';
import type { Screen } from './screen.ts';
import type { Canvas, CheckList, PickList, Widget } from './widget.ts';

/** Asks with frames on a screen. What does not fit is folded, and can be paged through with `v`. See ADR 23. */
export class ScreenDialog implements Dialog {
  readonly #screen: Screen;
  readonly #person: string | undefined;
  #requestText = new RequestText(() => {});

  constructor(screen: Screen, person?: string) {
    this.#screen = screen;
    this.#person = person;
  }

  announce(): void {
    this.#screen.announce();
  }

  async show(content: Content): Promise<void> {
    this.#requestText = new RequestText(addAnswerer(content, this.#person));
  }

  async pick(list: PickList): Promise<Choice | undefined> {
    const picked = await this.#answer(new Picker(list));
    if (picked.type === 'exit') return undefined;
    if (picked.text !== undefined) return { text: picked.text };
    const [index] = picked.indexes;
    return index === undefined ? undefined : { index };
  }

  async pickSeveral(list: CheckList): Promise<Choices> {
    return this.#answer(new Picker(list));
  }

  async typeText(asked: TextPrompt): Promise<Typed> {
    return this.#answer(new FreeText(asked));
  }

  async editText({ name, text }: EditedText): Promise<string | undefined> {
    const command = findEditorCommand();
    if (this.#screen.isOwn && command !== undefined && (text.includes('\n') || text.length > 80)) {
      return this.#screen.outside(async () => editInEditor(text, command));
    }
    const prompt = { prompt: `${name}: `, text, canGoBack: true, canBeEmpty: true };
    const typed = await this.typeText({ ...prompt, enter: 'continue' });
    return typed.type === 'text' ? typed.text : undefined;
  }

  async note(line: string): Promise<void> {
    this.#screen.print(line);
  }

  /* Each frame is a new `show`, which discards keys that were typed before the frame could be seen. */
  async #answer<ANSWER extends { type: string }>(
    widget: Widget<ANSWER>,
  ): Promise<Exclude<ANSWER, { type: 'unfold' }>> {
    const requestText = this.#requestText;
    for (;;) {
      const answer = await this.#screen.show(new RequestFrame(requestText, widget));
      if (isAnswer(answer)) return answer;
      const pager = new Pager(requestText, (canvas) =>
        widget.isCut === true ? (widget.fullLines?.(canvas) ?? []) : [],
      );
      const { reachedEnd } = await this.#screen.show(pager);
      requestText.isRead ||= reachedEnd;
    }
  }
}

function isAnswer<ANSWER extends { type: string }>(
  answer: ANSWER,
): answer is Exclude<ANSWER, { type: 'unfold' }> {
  return answer.type !== 'unfold';
}

/** The text of a request at the width of the screen. Records whether the person could read all of it. */
class RequestText {
  readonly #content: Content;
  #page: Page | undefined;
  /** True if all of it was on the screen at once, or was paged through to its end. */
  isRead = false;

  constructor(content: Content) {
    this.#content = content;
  }

  page({ columns, paint }: Pick<Canvas, 'columns' | 'paint'>): Page {
    if (this.#page?.columns === columns) return this.#page;
    const page = new Page({ columns, paint });
    this.#content(page);
    this.#page = page;
    return page;
  }
}

/**
 * The text of a request above the widget that answers it, within the rows of the screen. The widget gets the rows that it needs
 * first, but at least half of the screen is for the text.
 */
class RequestFrame<ANSWER extends object> implements Widget<ANSWER> {
  readonly #requestText: RequestText;
  readonly #widget: Widget<ANSWER>;
  #fold: Canvas['fold'] = 'none';

  constructor(requestText: RequestText, widget: Widget<ANSWER>) {
    this.#requestText = requestText;
    this.#widget = widget;
  }

  get isTyping(): boolean {
    return this.#widget.isTyping === true;
  }

  lines(canvas: Canvas): string[] {
    const whole = this.#drawn(canvas, 'none');
    if (whole.hidden === 0) this.#requestText.isRead = true;
    if (whole.hidden === 0 && this.#widget.isCut !== true) return whole.lines;
    return this.#drawn(canvas, this.#requestText.isRead ? 'read' : 'unread').lines;
  }

  press(key: Key, canvas: Canvas): ANSWER | undefined {
    return this.#widget.press(key, { ...canvas, fold: this.#fold });
  }

  ignore(key: Key): void {
    this.#widget.ignore?.(key);
  }

  closingLines(answer: ANSWER | undefined, canvas: Canvas): string[] | undefined {
    const lines = this.#widget.closingLines(answer, canvas);
    if (lines === undefined) return undefined;
    const rows = canvas.rows - lines.length - 1;
    return [...this.#requestText.page(canvas).folded(rows).lines, ...lines];
  }

  #drawn(canvas: Canvas, fold: Canvas['fold']): { lines: string[]; hidden: number } {
    this.#fold = fold;
    const page = this.#requestText.page(canvas);
    const wanted = Math.min(page.lines.length, Math.floor(canvas.rows / 2));
    const lines = this.#widget.lines({ ...canvas, rows: canvas.rows - wanted, fold });
    const canUnfold = this.#widget.isTyping !== true;
    const shown = page.folded(canvas.rows - lines.length, canUnfold ? 'v' : undefined);
    return { lines: [...shown.lines, ...lines], hidden: shown.hidden };
  }
}

/** True if the person paged to the end. */
interface Paged {
  reachedEnd: boolean;
}

/** Shows the whole request page by page. None of its keys answers the request. */
class Pager implements Widget<Paged> {
  readonly #requestText: RequestText;
  readonly #more: (canvas: Canvas) => readonly string[];
  #top = 0;
  #reachedEnd = false;

  /** `more`: the lines below the text of the request. */
  constructor(requestText: RequestText, more: (canvas: Canvas) => readonly string[]) {
    this.#requestText = requestText;
    this.#more = more;
  }

  lines(canvas: Canvas): string[] {
    const all = this.#all(canvas);
    const room = countPageRows(canvas);
    this.#top = Math.max(0, Math.min(this.#top, all.length - room));
    const end = Math.min(all.length, this.#top + room);
    const isEnd = end === all.length;
    this.#reachedEnd ||= isEnd;
    const place = `${this.#top + 1}–${end} of ${all.length.toLocaleString('en')} lines`;
    const hint = isEnd ? `${place}, Esc to go back` : `${place}, Space for more`;
    return [
      ...all.slice(this.#top, end),
      canvas.paint.hint(`  ${fitOneLine(hint, canvas.columns - 2)}`),
    ];
  }

  press(key: Key, canvas: Canvas): Paged | undefined {
    for (const stroke of listStrokes(key)) {
      if (['escape', 'return', 'enter', 'q', 'v', 'left'].includes(stroke)) {
        return { reachedEnd: this.#reachedEnd };
      }
      this.#top = Math.max(0, this.#target(stroke, countPageRows(canvas)));
    }
    return undefined;
  }

  closingLines(): undefined {}

  #all(canvas: Canvas): string[] {
    const page = this.#requestText.page(canvas).lines;
    return [...page, ...this.#more(canvas)];
  }

  #target(stroke: string, room: number): number {
    switch (stroke) {
      case 'up':
      case 'k':
        return this.#top - 1;
      case 'down':
      case 'j':
        return this.#top + 1;
      case 'pageup':
      case 'b':
        return this.#top - room;
      case 'pagedown':
      case ' ':
        return this.#top + room;
      case 'home':
      case 'g':
        return 0;
      case 'end':
      case 'G':
        return Infinity;
      default:
        return this.#top;
    }
  }
}

function countPageRows({ rows }: Canvas): number {
  return Math.max(1, rows - 1);
}

/** The person's own editor, as the shell would run it; `undefined` if they have named none. */
function findEditorCommand(): string | undefined {
  const { VISUAL: visual, EDITOR: editor } = process.env;
  return [visual, editor].find((command) => command !== undefined && command.trim() !== '');
}

/** Lets the person change a text in their editor. Resolves with the new text, or with `undefined` if the editor failed. */
async function editInEditor(text: string, command: string): Promise<string | undefined> {
  /* Only this user can read the folder. */
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  const file = join(folder, 'input.txt');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const code = await runEditor(command, file);
    if (code !== 0) return undefined;
    const edited = readFileSync(file, 'utf8');
    /* Editors end the last line. */
    return text.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runEditor(command: string, file: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  /* Through the shell: the command may have options, as `code --wait`. The file's name has no special characters. */
  const editor = spawn(`${command} "${file}"`, { shell: true, stdio: 'inherit' });
  editor.on('error', () => resolve(null)).on('close', resolve);
  return promise;
}
