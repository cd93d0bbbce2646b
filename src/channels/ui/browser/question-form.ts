import {
  describeText,
  type QuestionField,
  type QuestionRequestContent,
} from '../../../content/question.ts';
import { RequestForm, type ShownAction, type ShownField } from './request-form.ts';

/** What a person has picked and typed for a question. Nothing is picked before they do. */
export class QuestionForm extends RequestForm<QuestionRequestContent> {
  readonly #picks = new Map<string, readonly string[]>();

  protected override describeCall(): undefined {
    return undefined;
  }

  protected override listFields(): ShownField[] {
    return this.#mayAnswer ? this.request.fields.map((field) => this.#showField(field)) : [];
  }

  protected override listActions(): ShownAction[] {
    const { allowDismiss } = this.request;
    const mayDismiss = allowDismiss && (this.#rights?.mayReject ?? true);
    const all: (ShownAction | false)[] = [
      this.#mayAnswer && { name: 'answer', label: 'Answer', run: this.#answer },
      this.#mayAnswer && mayDismiss && { name: 'dismiss', label: 'Skip', run: this.#dismiss },
    ];
    return all.filter((each) => each !== false);
  }

  protected override findField(path: readonly string[]): string | undefined {
    return this.request.fields.find(({ key }) => path[0] === key)?.key;
  }

  get #rights() {
    return this.host.rightsFor(this.request.requestId);
  }

  get #mayAnswer(): boolean {
    return this.#rights?.mayAnswer ?? true;
  }

  #showField(asked: QuestionField): ShownField {
    const { key, label, options, max, freeText } = asked;
    const picked = this.#picks.get(key) ?? [];
    const type = max > 1 ? 'checkbox' : 'radio';
    const shown = options.map((option) =>
      this.makeOption(option, { key, type, isPicked: picked.includes(option.id) }, (isPicked) => {
        const others = max > 1 ? picked.filter((id) => id !== option.id) : [];
        this.#picks.set(key, isPicked ? [...others, option.id] : others);
      }),
    );
    const field = this.makeField(key, label, shown);
    if (freeText === 'never') return field;
    const hint = describeText(asked);
    if (freeText === 'only') {
      return this.makeTextField(
        field,
        hint === undefined ? {} : { label: `${field.label} (${hint})` },
      );
    }
    return this.makeTextField(field, { label: 'In your own words' });
  }

  #answer = (): void => {
    this.clearErrors();
    const { requestId, fields } = this.request;
    const answers = fields.map(({ key }) => {
      const text = this.readText(key).trim();
      const optionIds = [...(this.#picks.get(key) ?? [])];
      return { key, optionIds, ...(text !== '' && { text }) };
    });
    this.send({ type: 'question-response', requestId, status: 'answered', answers });
  };

  #dismiss = (): void => {
    const { requestId } = this.request;
    this.send({ type: 'question-response', requestId, status: 'dismissed' });
  };
}
