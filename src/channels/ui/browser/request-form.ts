import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { QuestionRequestContent } from '../../../content/question.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../../content/user-input.ts';
import {
  type AnswerDraft,
  type AnswerFault,
  type Enter,
  type FormField,
  type FormText,
  isFilledIn,
  listInputFields,
  listQuestionFields,
  listTyped,
  type MadeAnswer,
  makeApprovalAnswer,
  makeDismissalAnswer,
  makeQuestionAnswer,
  makeReasonField,
  makeRejectionAnswer,
  makeRememberField,
  placeFault,
} from '../../../view/answer-form.ts';
import { type FocusTarget, type PageFocus, ShownElement } from './page-focus.ts';
import type { ThreadProblem } from './page-state.ts';
import { describeCall, describeRequest, describeWhyNot } from './request-lines.ts';

/** The properties of an `input` or a `textarea`, as React has them. */
interface TextProps {
  value: string;
  onChange: (event: { target: { value: string } }) => void;
  ref: (element: FocusTarget | null) => void;
  rows: number;
  required: boolean;
  inputMode?: 'email' | 'url' | 'numeric' | 'decimal';
  'aria-invalid': boolean;
  'aria-describedby'?: string;
}

/** An option to pick: a radio button or, where several may be picked, a checkbox. */
interface ShownOption {
  /** The option's id in the request. */
  id: string;
  /** The label, safe to show like `description`. */
  label: string;
  /** More about it; safe to show. */
  description?: string;
  /** True if the person has picked it. */
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

/** A field of a form: options to pick from, a text to type, or both. A checkbox beside a text leaves it out, or makes it `null`. */
export interface ShownField {
  /** Unique in the form: a React key. */
  key: string;
  /** Safe to show. */
  label: string;
  /** The tool's description of it; safe to show. */
  description?: string;
  /** Empty where only a text can be typed. */
  options: ShownOption[];
  /** Absent where no text can be typed. */
  text?: {
    /** The label of the text, safe to show. */
    label: string;
    value: string;
    set: (value: string) => void;
    isRequired: boolean;
    props: TextProps;
  };
  /** The error, for the person; removed as soon as they correct it. */
  error?: string;
  /** The `id` of the element that shows `error`. */
  errorId: string;
}

/** A button of a form. */
export interface ShownAction {
  /** The action. */
  name: 'approve' | 'reject' | 'withdraw' | 'answer' | 'dismiss';
  /** The text of its button. */
  label: string;
  /** Does nothing until the request's `isReady`. */
  run: () => void;
}

/** An open request, with the fields and actions of its form. */
export interface ShownRequest<REQUEST = UserInputRequest> {
  /** The id of the request, which stays when it is edited. */
  requestId: string;
  /** The request itself, whose texts are not safe to show. */
  request: REQUEST;
  /** The rights of the person to it; absent if the server does not send them. */
  rights?: RequestRights;
  /** The question, safe to show. */
  text: string;
  /** The other facts of the request, safe to show: reason, requester, demands, votes, edits, deadline, look-alike letters. */
  lines: string[];
  /** The call that will run, with its whole input as JSON; safe to show. Absent for a question, and for a request without a call. */
  call?: string;
  /**
   * The fields that the person may fill in: those of the call's input that may be edited, by the tool's schema, the reason, a standing approval;
   * or those of the question.
   */
  fields: ShownField[];
  /** The actions of the person, in the order of the buttons. */
  actions: ShownAction[];
  /** True if the person's answer is being sent. */
  isSending: boolean;
  /** True if the buttons work: half a second after the last change of the requests or of content above them. Disable them until then. */
  isReady: boolean;
  /** The reason why this person can't answer, or not again. */
  whyNot?: string;
  /** The error of a refused answer, if no field is to blame. */
  error?: string;
  /**
   * The element of the request, around its buttons, with `tabIndex={-1}`. It gets the focus when it is next, and receives the start of a
   * press.
   */
  ref: (element: FocusTarget | null) => void;
}

/** The part of a page that a form uses. */
export interface FormHost {
  focus: PageFocus;
  now: () => number;
  problem: () => ThreadProblem | undefined;
  rightsFor: (requestId: string) => RequestRights | undefined;
  isSending: (requestId: string) => boolean;
  /** Checks whether a press of a button of this form counts. Call it once for each. */
  acceptPress: (form: unknown) => boolean;
  changed: () => void;
  /** Removes the problem that the page shows for a request. */
  clearProblem: (requestId: string) => void;
  answer: (response: UserInputResponseContent) => void;
  withdraw: (requestId: string) => void;
}

/** The form of a request. It keeps a person's entries until the request is over or shows something else. */
export class RequestForm {
  /** The request with its latest votes. */
  request: UserInputRequest;
  readonly #host: FormHost;
  readonly #elements = new Map<string, ShownElement>();
  #draft: AnswerDraft = {};
  /** What kept the last answer from being sent. */
  #faults: readonly AnswerFault[] = [];
  /** True if the person has typed something since they last sent an answer. */
  #isUnsent = false;

  constructor(request: UserInputRequest, host: FormHost) {
    this.request = request;
    this.#host = host;
  }

  /** True if the person has entered something that an approval of the request as it is would leave out. */
  get isTouched(): boolean {
    return isFilledIn(this.#draft);
  }

  /** The text that the person has typed and not sent, to show to them; `undefined` without one. */
  get unsent(): string | undefined {
    const typed = listTyped(this.request, this.#draft);
    return this.#isUnsent && typed.length > 0 ? typed.join('\n') : undefined;
  }

  /** Makes the request to show. `isReady`: true if the page's buttons work. */
  show(isReady: boolean): ShownRequest {
    const host = this.#host;
    const { request } = this;
    const { requestId, text } = request;
    const isSending = this.#isSending;
    const rights = host.rightsFor(requestId);
    const whyNot = rights && !isSending && describeWhyNot(request, rights);
    const error = this.#said.find(({ key }) => key === undefined)?.text;
    const { call, fields, actions } =
      request.type === 'approval-request'
        ? this.#showApproval(request)
        : this.#showQuestion(request);
    return {
      requestId,
      request,
      ...(rights && { rights }),
      text: inertText(text),
      lines: describeRequest(request, host.now()),
      ...(call !== undefined && { call }),
      fields: isSending ? [] : fields.map((field) => this.#showField(field)),
      actions: isSending ? [] : actions.filter((each) => each !== false).map(this.#guard),
      isSending,
      isReady: isReady && !isSending,
      ...(whyNot && { whyNot }),
      ...(error !== undefined && { error }),
      ref: host.focus.findTarget(requestId).set,
    };
  }

  #showApproval(request: ApprovalRequest): ShownParts {
    const { requestId, toolCall } = request;
    const asked = this.#ask(request);
    const { mayApprove, mayReject, mayWithdraw } = asked.rights;
    const remember = makeRememberField(asked, this.#draft);
    const reason = makeReasonField(asked, this.#draft);
    return {
      ...(toolCall && { call: describeCall(toolCall.toolName, toolCall.input) }),
      fields: [
        ...listInputFields(asked, this.#draft),
        ...(mayApprove || mayReject ? [reason] : []),
        ...(remember ? [remember] : []),
      ],
      actions: [
        mayApprove && {
          name: 'approve',
          label: 'Approve',
          run: () => this.#approve(request),
        },
        mayReject && {
          name: 'reject',
          label: 'Reject',
          run: () => this.#answer(makeRejectionAnswer(this.#ask(request), this.#draft)),
        },
        mayWithdraw && {
          name: 'withdraw',
          label: 'Withdraw my approval',
          run: () => this.#host.withdraw(requestId),
        },
      ],
    };
  }

  /* With the rights of now: an app may keep an action. */
  #ask(request: ApprovalRequest) {
    const rights = this.#host.rightsFor(request.requestId) ?? assumeRights(request);
    return { request, rights, digest: request.digest };
  }

  #approve(request: ApprovalRequest): void {
    const asked = this.#ask(request);
    const made = makeApprovalAnswer(asked, this.#draft);
    /* The person is told once that their edits are gone, and then sees the call as it was asked. */
    if (!asked.rights.mayEdit) this.#draft = { ...this.#draft, edits: new Map() };
    this.#answer(made);
  }

  #showQuestion(request: QuestionRequestContent): ShownParts {
    const { mayAnswer = true, mayReject = true } = this.#host.rightsFor(request.requestId) ?? {};
    return {
      fields: mayAnswer ? listQuestionFields(request, this.#draft) : [],
      actions: [
        mayAnswer && {
          name: 'answer',
          label: 'Answer',
          run: () => this.#answer(makeQuestionAnswer(request, this.#draft)),
        },
        mayAnswer &&
          request.allowDismiss &&
          mayReject && {
            name: 'dismiss',
            label: 'Skip',
            run: () => this.#answer(makeDismissalAnswer(request)),
          },
      ],
    };
  }

  get #isSending(): boolean {
    return this.#host.isSending(this.request.requestId);
  }

  #guard = (action: ShownAction): ShownAction => ({
    ...action,
    run: () => {
      if (!this.#isSending && this.#host.acceptPress(this)) action.run();
    },
  });

  #showField({ options, isMany, text, fault, ...field }: FormField): ShownField {
    const { key } = field;
    const errorId = `${this.request.requestId}.${encodeURIComponent(key)}`;
    const error = fault ?? this.#said.find((each) => each.key === key)?.text;
    const group = { type: isMany ? 'checkbox' : 'radio', name: errorId } as const;
    return {
      ...field,
      options: options.map(({ pick, ...option }) => {
        const set = (isPicked: boolean): void => this.#enter(pick(isPicked));
        const onChange: ShownOption['props']['onChange'] = ({ target }) => set(target.checked);
        return { ...option, set, props: { ...group, checked: option.isPicked, onChange } };
      }),
      ...(text && { text: this.#showText(text, this.#findElement(key), error && errorId) }),
      ...(error !== undefined && { error }),
      errorId,
    };
  }

  #showText(
    { label, value, isRequired, inputMode, write }: FormText,
    { set: ref }: ShownElement,
    errorId: string | undefined,
  ): NonNullable<ShownField['text']> {
    const set = (text: string): void => {
      this.#host.focus.keep();
      this.#isUnsent = true;
      this.#enter(write(text));
    };
    const props: TextProps = {
      value,
      onChange: (event) => set(event.target.value),
      ref,
      rows: value.split('\n').length,
      required: isRequired,
      ...(inputMode && { inputMode }),
      'aria-invalid': errorId !== undefined,
      ...(errorId !== undefined && { 'aria-describedby': errorId }),
    };
    return { label, value, set, isRequired, props };
  }

  #findElement(key: string): ShownElement {
    const element = this.#elements.get(key) ?? new ShownElement();
    this.#elements.set(key, element);
    return element;
  }

  #enter(enter: Enter): void {
    this.#draft = enter(this.#draft);
    this.#faults = [];
    this.#host.clearProblem(this.request.requestId);
    this.#host.changed();
  }

  /* The first field that has to be corrected gets the focus. */
  #answer(made: MadeAnswer): void {
    if (made.type === 'made') return this.#send(made.response);
    const [first] = (this.#faults = made.faults);
    this.#host.clearProblem(this.request.requestId);
    this.#host.focus.moveTo(this.#elements.get(first?.key ?? '')?.current);
    this.#host.changed();
  }

  #send(response: UserInputResponseContent): void {
    this.#faults = [];
    this.#isUnsent = false;
    this.#host.clearProblem(this.request.requestId);
    this.#host.focus.leave(this.request.requestId);
    this.#host.answer(response);
  }

  /** The field to blame for the refusal of this request's answer; `undefined` if none is. */
  get refusedField(): FocusTarget | undefined {
    const { key } = this.#refusal ?? {};
    return key === undefined ? undefined : this.#elements.get(key)?.current;
  }

  get #said(): readonly AnswerFault[] {
    return [...this.#faults, ...(this.#refusal ? [this.#refusal] : [])];
  }

  get #refusal(): AnswerFault | undefined {
    const problem = this.#host.problem();
    if (problem?.type !== 'refused' || problem.requestId !== this.request.requestId)
      return undefined;
    return placeFault(this.request, problem);
  }
}

/** The parts of a form that differ by the kind of the request. */
interface ShownParts {
  call?: string;
  fields: FormField[];
  actions: (ShownAction | false)[];
}

/* A server that sends no rights checks the answers all the same. */
function assumeRights({ votes = [], remember }: ApprovalRequest) {
  return {
    mayApprove: true,
    mayReject: true,
    mayEdit: true,
    mayWithdraw: votes.length > 0,
    mayRemember: remember,
  };
}
