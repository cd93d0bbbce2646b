import type { Choice, Choices, Dialog, EditedText } from './dialog.ts';
import { editInEditor, findEditorCommand } from './external-editor.ts';
import { FreeText, type TextPrompt, type Typed } from './free-text.ts';
import { addAnswerer, type Content } from './page.ts';
import { Pager, RequestFrame, RequestText } from './request-frame.ts';
import { Picker } from './picker.ts';
import type { Screen } from './screen.ts';
import type { CheckList, PickList, Widget } from './widget.ts';

/** Asks with frames on a screen. What does not fit is folded, and can be paged through with `v`. */
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
