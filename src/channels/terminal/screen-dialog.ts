import { getColumns } from '@clack/core';
import { Checklist, type CheckList } from './checklist.ts';
import type { Choice, Choices, Dialog } from './dialog.ts';
import { FreeText, type TextPrompt } from './free-text.ts';
import { type Content, Page } from './page.ts';
import { paintFor } from './paint.ts';
import type { Screen } from './screen.ts';
import { Selector } from './selector.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { PickList, Widget } from './widget.ts';

/** Asks by frames on a screen, the way of seed 004. What is long is folded, and shown whole with `v`. */
export class ScreenDialog implements Dialog {
  readonly #screen: Screen;
  readonly #output: TerminalOutput;
  #content: Content | undefined;
  #isFolded = false;

  constructor(screen: Screen, output: TerminalOutput) {
    this.#screen = screen;
    this.#output = output;
  }

  async show(content: Content): Promise<void> {
    this.#content = content;
    this.#isFolded = this.#print(content, true).hasFolded;
  }

  async pick(list: PickList): Promise<Choice | undefined> {
    const picked = await this.#folding((canUnfold) => new Selector(list, canUnfold));
    if (picked.type === 'entry') return { index: picked.index };
    return picked.type === 'text' ? { text: picked.text } : undefined;
  }

  async pickSeveral(list: CheckList): Promise<Choices | undefined> {
    const checked = await this.#folding((canUnfold) => new Checklist(list, canUnfold));
    if (checked.type !== 'entries') return undefined;
    const { indexes, text } = checked;
    return text === undefined ? { indexes } : { indexes, text };
  }

  async typeText(asked: TextPrompt): Promise<string | undefined> {
    const typed = await this.#screen.show(new FreeText(asked));
    return typed.type === 'text' ? typed.text : undefined;
  }

  async #folding<ANSWER extends { type: string }>(
    widget: (canUnfold: boolean) => Widget<ANSWER>,
  ): Promise<ANSWER> {
    const answer = await this.#screen.show(widget(this.#isFolded));
    if (answer.type !== 'unfold' || this.#content === undefined) return answer;
    this.#isFolded = this.#print(this.#content, false).hasFolded;
    return this.#folding(widget);
  }

  #print(content: Content, isFolding: boolean): Page {
    const columns = getColumns(this.#output);
    const page = new Page({ columns, isFolding, paint: paintFor(this.#output) });
    content(page);
    this.#screen.print(page.lines);
    return page;
  }
}
