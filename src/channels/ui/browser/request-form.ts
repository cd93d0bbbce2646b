import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { QuestionRequestContent } from '../../../content/question.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import { type FocusTarget, type PageFocus, ShownElement } from './page-focus.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import type { ThreadProblem } from './page-state.ts';
import { describeRequest, describeWhyNot } from './request-lines.ts';

/** The properties of an `input` or a `textarea`, as React has them. */
interface TextProps {
  value: string;
  onChange: (event: { target: { value: string } }) => void;
  ref: (element: FocusTarget | null) => void;
  required: boolean;
  'aria-invalid': boolean;
  'aria-describedby'?: string;
}

/** An option to pick: a radio button or, where several may be picked, a checkbox. */
export interface ShownOption {
  /** The option's id in the request. */
  id: string;
  /** Safe to show, as `description` is. */
  label: string;
  /** More about it; safe to show. */
  description?: string;
  /** Whether the person has picked it. */
  isPicked: boolean;
  /** Picks it, or takes the pick back. */
  set: (isPicked: boolean) => void;
  /** The properties of the `input`, as React has them. */
  props: {
    type: 'checkbox' | 'radio';
    name: string;
    checked: boolean;
    onChange: (event: { target: { checked: boolean } }) => void;
  };
}

/** A field of a form: options to pick from, a text to type, or both. */
export interface ShownField {
  /** Unique in the form: a React key. */
  key: string;
  /** Safe to show. */
  label: string;
  /** Empty where only a text can be typed. */
  options: ShownOption[];
  /** Absent where no text can be typed. */
  text?: {
    /** What the text is, safe to show. */
    label: string;
    value: string;
    set: (value: string) => void;
    isRequired: boolean;
    props: TextProps;
  };
  /** What is wrong with it, for the person; gone as soon as they change the field. */
  error?: string;
  /** The `id` of the element that shows `error`. */
  errorId: string;
}

/** A button of a form. */
export interface ShownAction {
  /** What it does. */
  name: 'approve' | 'reject' | 'withdraw' | 'answer' | 'dismiss';
  /** The text of its button. */
  label: string;
  /** Does nothing until the request's `isReady`. */
  run: () => void;
}

/** An open request, with its form: what its person may fill in and do. */
export interface ShownRequest<REQUEST = ApprovalRequest | QuestionRequestContent> {
  /** The id of the request, which stays when it is edited. */
  requestId: string;
  /** The request itself, whose texts are not safe to show. */
  request: REQUEST;
  /** What the person may do with it; absent if the server does not say. */
  rights?: RequestRights;
  /** The question, safe to show. */
  text: string;
  /** Everything else that the request says, safe to show: why, who asks, what it demands, votes, edits, the deadline, letters that look alike. */
  lines: string[];
  /** The call that will run, with its whole input as JSON; safe to show. Absent for a question, and for a request without a call. */
  call?: string;
  /** The fields that the person may fill in: those of the call's input that may be edited, as text or JSON, the reason, a standing approval; or those of the question. */
  fields: ShownField[];
  /** What the person may do, in the order of the buttons. */
  actions: ShownAction[];
  /** Whether the person's answer is being sent. */
  isSending: boolean;
  /** Whether the buttons work: half a second after the requests on the page, or what is above them, have changed. Disable them until then. */
  isReady: boolean;
  /** Why this person can't answer, or not again. */
  whyNot?: string;
  /** Why the answer was refused, where no field is to blame. */
  error?: string;
  /** The element of the request, around its buttons, with `tabIndex={-1}`. It gets the focus when it is next, and hears when a press begins. */
  ref: (element: FocusTarget | null) => void;
}

/** What a form needs from its page. */
export interface FormHost {
  focus: PageFocus;
  now: () => number;
  problem: () => ThreadProblem | undefined;
  rightsFor: (requestId: string) => RequestRights | undefined;
  isSending: (requestId: string) => boolean;
  /** Whether a press of a button of this form counts. Call it once for each. */
  acceptPress: (form: unknown) => boolean;
  changed: () => void;
  /** Removes the problem that the page shows for a request. */
  clearProblem: (requestId: string) => void;
  answer: (response: UserInputResponseContent) => void;
  withdraw: (requestId: string) => void;
}

/** What a person has filled in for a request. It stays until the request is over or shows something else. */
export abstract class RequestForm<REQUEST extends ApprovalRequest | QuestionRequestContent> {
  /** The request with its latest votes. */
  request: REQUEST;
  protected readonly host: FormHost;
  readonly #texts = new Map<string, string>();
  readonly #errors = new Map<string, string>();
  readonly #elements = new Map<string, ShownElement>();
  /** Whether the person has typed something since they last sent an answer. */
  #isUnsent = false;

  constructor(request: REQUEST, host: FormHost) {
    this.request = request;
    this.host = host;
  }

  /** The key of the field that a path in a refusal leads to. */
  protected abstract findField(path: readonly string[]): string | undefined;

  /** Whether the person has typed something, or ticked a standing approval. */
  get isTouched(): boolean {
    return [...this.#texts.values()].some((text) => text !== '');
  }

  /** What the person has typed and not sent, for them to read; `undefined` if they have not. */
  get unsent(): string | undefined {
    const typed = [...this.#texts.values()].filter((text) => text.trim() !== '');
    return this.#isUnsent && typed.length > 0 ? typed.join('\n') : undefined;
  }

  protected get isSending(): boolean {
    return this.host.isSending(this.request.requestId);
  }

  /** `isReady`: whether the page's buttons work. */
  show(isReady: boolean): ShownRequest<REQUEST> {
    const { request, host, isSending } = this;
    const { requestId, text } = request;
    const rights = host.rightsFor(requestId);
    const whyNot = rights && !isSending && describeWhyNot(request, rights);
    const refusal = this.#refusal;
    const call = this.describeCall();
    return {
      requestId,
      request,
      ...(rights && { rights }),
      text: inertText(text),
      lines: describeRequest(request, host.now()),
      ...(call !== undefined && { call }),
      fields: isSending ? [] : this.listFields(),
      actions: isSending ? [] : this.listActions().map(this.#guard),
      isSending,
      isReady: isReady && !isSending,
      ...(whyNot && { whyNot }),
      ...(refusal && refusal.key === undefined && { error: refusal.text }),
      ref: host.focus.findTarget(requestId).set,
    };
  }

  protected abstract describeCall(): string | undefined;
  protected abstract listFields(): ShownField[];
  protected abstract listActions(): ShownAction[];

  #guard = (action: ShownAction): ShownAction => ({
    ...action,
    run: () => {
      if (!this.isSending && this.host.acceptPress(this)) action.run();
    },
  });

  protected makeField(key: string, label: string, options: ShownOption[] = []): ShownField {
    const refusal = this.#refusal;
    const error = this.#errors.get(key) ?? (refusal?.key === key ? refusal.text : undefined);
    return {
      key,
      label: inertText(label),
      options,
      ...(error !== undefined && { error }),
      errorId: this.#makeId(key),
    };
  }

  /** A field with a text. */
  protected makeTextField(
    field: ShownField,
    { label = field.label, initial = '', isRequired = false } = {},
  ): ShownField {
    const { key, error, errorId } = field;
    const value = this.readText(key, initial);
    const set = (text: string): void => this.#setText(key, text);
    const element = this.#elements.get(key) ?? new ShownElement();
    this.#elements.set(key, element);
    const hasError = error !== undefined;
    const props: TextProps = {
      value,
      onChange: (event) => set(event.target.value),
      ref: element.set,
      required: isRequired,
      'aria-invalid': hasError,
      ...(hasError && { 'aria-describedby': errorId }),
    };
    return { ...field, text: { label, value, set, isRequired, props } };
  }

  protected makeOption(
    { id, label, description }: { id: string; label: string; description?: string | undefined },
    picked: { key: string; type: 'checkbox' | 'radio'; isPicked: boolean },
    pick: (isPicked: boolean) => void,
  ): ShownOption {
    const { key, type, isPicked } = picked;
    const set = (is: boolean): void => {
      pick(is);
      this.#errors.delete(key);
      this.host.clearProblem(this.request.requestId);
      this.host.changed();
    };
    return {
      id,
      label: inertText(label),
      ...(description !== undefined && { description: inertText(description) }),
      isPicked,
      set,
      props: {
        type,
        name: this.#makeId(key),
        checked: isPicked,
        onChange: (event) => set(event.target.checked),
      },
    };
  }

  #makeId(key: string): string {
    return `${this.request.requestId}.${encodeURIComponent(key)}`;
  }

  protected readText(key: string, initial = ''): string {
    return this.#texts.get(key) ?? initial;
  }

  protected setError(name: string, text: string): void {
    this.#errors.set(name, text);
  }

  protected clearErrors(): void {
    this.#errors.clear();
    this.host.clearProblem(this.request.requestId);
  }

  /** Whether there are errors. The first field that has one gets the focus. */
  protected refuseErrors(): boolean {
    const [name] = this.#errors.keys();
    if (name === undefined) return false;
    this.host.focus.moveTo(this.#elements.get(name)?.current);
    this.host.changed();
    return true;
  }

  protected send(response: UserInputResponseContent): void {
    this.#isUnsent = false;
    this.host.focus.leave(this.request.requestId);
    this.host.answer(response);
  }

  /** The field to blame for the refusal of this request's answer; `undefined` if none is. */
  get refusedField(): FocusTarget | undefined {
    const { key } = this.#refusal ?? {};
    return key === undefined ? undefined : this.#elements.get(key)?.current;
  }

  get #refusal(): { text: string; key?: string } | undefined {
    const problem = this.host.problem();
    if (problem?.type !== 'refused' || problem.requestId !== this.request.requestId)
      return undefined;
    const { text, field, reason } = problem;
    const key = field && this.findField(field);
    if (key !== undefined) return { text: reason ?? text, key };
    return { text: reason === undefined ? text : `${text} ${reason}` };
  }

  #setText(name: string, value: string): void {
    this.host.focus.keep();
    this.#isUnsent = true;
    this.#texts.set(name, value);
    this.#errors.delete(name);
    this.host.clearProblem(this.request.requestId);
    this.host.changed();
  }
}
