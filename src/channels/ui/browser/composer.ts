import type { FocusTarget, PageFocus } from './page-focus.ts';
import type { ThreadProblem } from './page-state.ts';

/** The page that sends a composer's messages. */
interface ComposerPage {
  canSend: () => boolean;
  send: (text: string) => void;
  changed: () => void;
  focus: PageFocus;
}

/** The message that a person writes: it is restored if it was not sent, and cleared when another person signs in. */
export class Composer {
  readonly #page: ComposerPage;
  #text = '';
  #takenBack: ThreadProblem | undefined;

  constructor(page: ComposerPage) {
    this.#page = page;
  }

  get text(): string {
    return this.#text;
  }

  /** The properties of the `input` or `textarea`, as React has them. */
  get props() {
    const { text, set, ref } = this;
    const onChange = (event: { target: { value: string } }): void => set(event.target.value);
    return { value: text, onChange, ref };
  }

  /** True if a message can be sent: the page is loaded, the assistant is not at work, and nothing waits for an answer. */
  get canSend(): boolean {
    return this.#page.canSend();
  }

  set = (text: string): void => {
    this.#page.focus.keep();
    this.#text = text;
    this.#page.changed();
  };

  /** Sends the text and empties the field, if it can be sent. A blank text is not sent. */
  send = (): void => {
    const text = this.#text;
    if (!this.canSend || text.trim() === '') return;
    this.#text = '';
    this.#page.send(text);
    this.#page.changed();
  };

  /** `send`, for the form around the field. */
  submit = (event: { preventDefault(): void }): void => {
    event.preventDefault();
    this.send();
  };

  /** The element of the field, which gets the focus when nothing is left to answer. */
  ref = (element: FocusTarget | null): void => this.#page.focus.last.set(element);

  /** Puts a text that was not sent before the text typed since. */
  takeBack(problem: ThreadProblem | undefined): void {
    if (problem?.type !== 'refused' || problem === this.#takenBack) return;
    this.#takenBack = problem;
    const { unsaid } = problem;
    if (unsaid === undefined || this.#text.includes(unsaid)) return;
    this.#text = `${unsaid} ${this.#text}`.trim();
    this.#page.changed();
  }

  reset(): void {
    this.#text = '';
    this.#takenBack = undefined;
  }
}
