import { EntryList, type Mark } from './entry-list.ts';
import { fitOneLine, wrap } from './styled-text.ts';
import { FreeText, type Typed } from './free-text.ts';
import { type Key, listStrokes } from './keys.ts';
import { type Canvas, escapeLabel, type PickList, responsePrompt, type Widget } from './widget.ts';

/** The picks and the typed text, the exit (with the ticked entries), or the wish to see everything (`unfold`). */
export type Picked =
  | { type: 'entries'; indexes: number[]; text?: string }
  | { type: 'exit'; indexes: number[] }
  | { type: 'unfold' };

const navigation: KeyHint = ['Use ↑/↓ or j/k to navigate', '↑/↓'];

/**
 * Lets a person pick one of several entries, or tick several: Space ticks, Enter sends. The last entry may lead to a text input. A typed
 * text is enough, whatever `min` says.
 */
export class Picker implements Widget<Picked> {
  readonly #asked: PickList;
  readonly #list: EntryList;
  readonly #checked: Set<number>;
  readonly #typeAhead: TypeAhead | undefined;
  #text: FreeText | undefined;
  #typedBefore: string | undefined;
  #message = '';

  constructor(asked: PickList) {
    const escape = asked.takesText ? [{ label: escapeLabel }] : [];
    this.#asked = asked;
    this.#checked = new Set(asked.ticks?.checked);
    this.#typeAhead = asked.decides ? new TypeAhead() : undefined;
    this.#list = new EntryList([...asked.entries, ...escape], asked.start);
  }

  get isCut(): boolean {
    return this.#text === undefined && this.#list.isCut;
  }

  get isTyping(): boolean {
    return this.#text !== undefined;
  }

  lines(canvas: Canvas): string[] {
    if (this.#text !== undefined) return this.#text.lines(canvas);
    const hint = renderHints([navigation, ...this.#hints()], this.#asked.exit, canvas);
    const blank = canvas.rows < 8 ? [] : [''];
    const message =
      this.#message === ''
        ? (this.#typeAhead?.message(canvas) ?? [])
        : [...blank, `  ${this.#message}`];
    const rows = canvas.rows - hint.length - message.length;
    const list = this.#list.lines({ ...canvas, rows }, (index) => this.#mark(index, canvas));
    return [...hint, ...list, ...message];
  }

  fullLines(canvas: Canvas): string[] {
    return this.#list.fullLines(canvas, (index) => this.#mark(index, canvas));
  }

  press(key: Key, canvas: Canvas): Picked | undefined {
    this.#message = '';
    if (this.#text !== undefined) return this.#typed(this.#text.press(key));
    for (const stroke of listStrokes(key)) {
      if (this.#typeAhead?.includes(stroke, key) === true) {
        this.#list.highlighted = this.#asked.start;
        continue;
      }
      const picked = this.#stroke(stroke, canvas);
      if (picked !== undefined || this.#text !== undefined) return picked;
    }
    return undefined;
  }

  /* The rest of a line that was being typed is not a command either. */
  ignore(key: Key): void {
    for (const stroke of listStrokes(key)) this.#typeAhead?.includes(stroke, key);
  }

  closingLines(picked: Picked | undefined, canvas: Canvas): string[] | undefined {
    const { enter, exit, entries, ticks } = this.#asked;
    if (picked === undefined) return [];
    if (picked.type === 'exit') return exit === 'leave' ? [] : undefined;
    if (picked.type === 'unfold' || enter === 'continue') return undefined;
    const { indexes, text } = picked;
    if (text !== undefined && ticks === undefined)
      return this.#text?.closingLines({ type: 'text', text }, canvas) ?? [];
    if (indexes.some((index) => entries[index]?.leadsOn === true)) return undefined;
    const labels = indexes.map((index) => entries[index]?.label ?? '');
    const texts = text === undefined ? [] : [text];
    return [...labels, ...texts].map((label) => `  ✓ ${fitOneLine(label, canvas.columns - 4)}`);
  }

  #hints(): KeyHint[] {
    const { enter, ticks } = this.#asked;
    if (ticks === undefined) return [['Enter to select', 'Enter']];
    return [
      ['Space to tick', 'Space'],
      [`Enter to ${enter}`, `Enter ${enter}s`],
    ];
  }

  #mark(index: number, { fold }: Canvas): Mark {
    const isUnread = fold === 'unread' && this.#list.entries[index]?.isYes === true;
    const hasBox = this.#asked.ticks !== undefined && index < this.#asked.entries.length;
    const box = this.#checked.has(index) ? '[x] ' : '[ ] ';
    return {
      before: `${renderNumber(this.#asked, index)}${hasBox ? box : ''}`,
      after: isUnread ? ' (read everything first: v)' : '',
    };
  }

  #stroke(stroke: string, canvas: Canvas): Picked | undefined {
    const { exit, ticks } = this.#asked;
    const { highlighted } = this.#list;
    if (stroke === 'return' || stroke === 'enter') {
      const sends = ticks !== undefined && highlighted < this.#asked.entries.length;
      return sends ? this.#send() : this.#choose(highlighted, canvas);
    }
    if (stroke === ' ' && ticks !== undefined) return this.#choose(highlighted, canvas);
    if (/^[1-9]$/.test(stroke) && picksByDigit(this.#asked))
      return this.#choose(Number(stroke) - 1, canvas);
    if (isExit(stroke, exit)) return { type: 'exit', indexes: this.#indexes() };
    if (stroke === 'v' && canvas.fold !== 'none') return this.#unfold();
    this.#list.move(stroke);
    return undefined;
  }

  /* Picks or ticks the entry, or opens the text input. */
  #choose(index: number, { fold }: Canvas): Picked | undefined {
    const entry = this.#list.entries[index];
    if (entry === undefined) return undefined;
    if (entry.isYes === true && fold === 'unread') return this.#unfold();
    this.#list.highlighted = index;
    const { entries, enter, text, ticks } = this.#asked;
    if (index === entries.length) {
      const asked = { prompt: responsePrompt, canGoBack: true, canBeEmpty: false, enter };
      this.#text = new FreeText({ ...asked, text: this.#typedBefore ?? text });
      return undefined;
    }
    if (ticks === undefined) return { type: 'entries', indexes: [index] };
    if (this.#checked.delete(index)) return undefined;
    if (this.#checked.size < ticks.max) this.#checked.add(index);
    else this.#message = `No more than ${ticks.max}.`;
    return undefined;
  }

  #indexes(): number[] {
    return [...this.#checked].toSorted((one, other) => one - other);
  }

  #send(): Picked | undefined {
    const indexes = this.#indexes();
    const { min = 0 } = this.#asked.ticks ?? {};
    if (indexes.length >= min) return { type: 'entries', indexes };
    this.#message = `At least ${min}: tick with Space.`;
    return undefined;
  }

  /* After reading, "yes" must not be highlighted: the next Enter would pick it. */
  #unfold(): Picked {
    if (this.#asked.decides) this.#list.highlighted = this.#asked.start;
    return { type: 'unfold' };
  }

  #typed(typed: Typed | undefined): Picked | undefined {
    if (typed?.type === 'text')
      return { type: 'entries', indexes: this.#indexes(), text: typed.text };
    if (typed?.type !== 'back') return undefined;
    this.#typedBefore = typed.text;
    this.#text = undefined;
    return undefined;
  }
}

const moves = new Set(['up', 'down', 'home', 'end', 'pageup', 'pagedown', 'escape']);

/**
 * Detects text that was meant for something else, in a list where a yes can be picked: a line that was being typed when the question
 * appeared, or a paste without paste marks. From the first key that is not a command of the list, letters have no effect, and neither has
 * the Enter that ends the text. An Enter in one chunk with other keys has no effect either: the person can't have seen what it would pick.
 */
class TypeAhead {
  #isTyping = false;
  #wasDropped = false;

  /** Checks whether the key is part of such text. */
  includes(stroke: string, { isTogether = false }: Key): boolean {
    const isEnter = stroke === 'return' || stroke === 'enter';
    this.#wasDropped = isEnter && (this.#isTyping || isTogether);
    if (isEnter || moves.has(stroke)) this.#isTyping = false;
    else this.#isTyping ||= !/^(?:[jkv0-9]|left|shift\+tab)$/.test(stroke);
    return this.#isTyping || this.#wasDropped;
  }

  message({ columns }: Canvas): string[] {
    if (!this.#isTyping && !this.#wasDropped) return [];
    return ['  Text is not an answer: use ↑/↓'.slice(0, columns)];
  }
}

/* With fewer rows than these, the hint is short, has no blank line after it, or is left out. */
const roomy = 12;
const tight = 8;
const tiny = 5;

/** Checks whether the key is the list's exit. */
function isExit(stroke: string, exit: PickList['exit']): boolean {
  if (exit === 'none') return false;
  return stroke === 'escape' || (exit === 'back' && (stroke === 'left' || stroke === 'shift+tab'));
}

/**
 * Checks whether a digit picks its entry at once. Never if one of the entries is a yes, or if numbers may have two digits: the first digit
 * would pick.
 */
function picksByDigit({ entries, decides }: PickList): boolean {
  return !decides && entries.length <= 9;
}

/** The number before an entry. In a list where one digit picks, the tenth entry has no number. */
function renderNumber(list: PickList, index: number): string {
  if (!list.isNumbered || (picksByDigit(list) && index >= 9)) return '';
  const count = list.entries.length + Number(list.takesText);
  return `${String(index + 1).padStart(picksByDigit(list) ? 1 : String(count).length)}. `;
}

/** The effect of a key, in full and in short. */
type KeyHint = [inFull: string, short: string];

/** The hint that names the keys, and a blank line; with few rows it is shorter. */
function renderHints(
  hints: readonly KeyHint[],
  exit: PickList['exit'],
  { columns, rows, paint, fold }: Canvas,
): string[] {
  if (rows < tiny) return [];
  const all: KeyHint[] = [
    ...hints,
    ...(exit === 'back' ? [['← to go back', '← back'] satisfies KeyHint] : []),
    ...(exit === 'leave' ? [['Esc to decide later', 'Esc later'] satisfies KeyHint] : []),
    ...(fold === 'none' ? [] : [['v to see all', 'v all'] satisfies KeyHint]),
  ];
  const lines = wrap(all.map(([inFull]) => inFull).join(', '), columns - 2);
  const short = [fitOneLine(all.map(([, few]) => few).join(', '), columns - 2)];
  return [
    ...(lines.length > 1 && rows < roomy ? short : lines).map(
      (line) => `  ${paint.hint(line.trim())}`,
    ),
    ...(rows < tight ? [] : ['']),
  ];
}
