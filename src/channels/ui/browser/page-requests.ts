import { isToolUIPart, type UIMessage } from 'ai';
import { type ApprovalRequest, approvalRequestSchema, approve } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import { groupRequests } from '../../../view/group-requests.ts';
import { type QuestionRequestContent, questionRequestSchema } from '../../../content/question.ts';
import { ApprovalForm } from './approval-form.ts';
import { type FocusTarget, PageFocus } from './page-focus.ts';
import { QuestionForm } from './question-form.ts';
import type { FormHost, ShownRequest } from './request-form.ts';

/** Open requests that are alike. They can be approved together once the end of the list, with each whole request, was on the screen. */
export interface ShownGroup {
  /** Another one as soon as one of the requests shows something else: a React key. */
  key: string;
  /** How many, and of which tool; safe to show. */
  name: string;
  /** The requests of the group, each to be shown whole. */
  requests: ShownRequest<ApprovalRequest>[];
  /** The end of the list. */
  ref: (element: FocusTarget | null) => void;
  /** Whether the end of the list was on the screen and the buttons work. */
  isReady: boolean;
  /** Approves each of them with an answer of its own, if `isReady`. */
  approveAll: () => void;
}

type AnyRequest = ApprovalRequest | QuestionRequestContent;

/* The package is compiled without the types of browsers. */
declare const IntersectionObserver: new (
  listener: (seen: readonly { isIntersecting: boolean }[]) => void,
) => { observe(element: unknown): void; disconnect(): void };

const restMs = 500;

/** The request of a part that may be one: a tool part's is about its call, a data part has any other until it ends. */
export function readRequest(part: UIMessage['parts'][number]): AnyRequest | undefined {
  if (isToolUIPart(part)) return readAsked(part.approval?.descriptor);
  if (!('data' in part)) return undefined;
  const request = readAsked(part.data);
  /* Other data parts may have what a person or a tool has written: a forged request among them must not stand for the real one. */
  const isOwn = part.type === `data-${request?.type}` && part.id === request?.requestId;
  return isOwn ? request : undefined;
}

/** The id of the request that a part shows, whether it is open or over. */
function readRequestId(part: UIMessage['parts'][number]): string | undefined {
  return 'data' in part ? part.id : readRequest(part)?.requestId;
}

function readAsked(asked: unknown): AnyRequest | undefined {
  if (typeof asked !== 'object' || asked === null) return undefined;
  if (!parsed.has(asked)) parsed.set(asked, parseRequest(asked));
  return parsed.get(asked);
}

/* A page reads all of its parts each time it is rendered. */
const parsed = new WeakMap<object, AnyRequest | undefined>();

function parseRequest(asked: object): AnyRequest | undefined {
  return questionRequestSchema.safeParse(asked).data ?? approvalRequestSchema.safeParse(asked).data;
}

/* What is answered here and not recorded yet is still open. */
function readOpenRequest(
  part: UIMessage['parts'][number],
  isSending: (requestId: string) => boolean,
): AnyRequest[] {
  const request = readRequest(part);
  if (request === undefined) return [];
  const isAsked = !isToolUIPart(part) || part.state === 'approval-requested';
  return isAsked || isUnrecorded(part, isSending) ? [request] : [];
}

/** All that makes a part take more room on a page, or less. */
function describeSize(part: UIMessage['parts'][number]): unknown {
  if (part.type === 'text') return part.text;
  if (!isToolUIPart(part)) return undefined;
  return [part.state, part.input, part.errorText, part.approval?.reason];
}

/** Whether a part shows an answer that is being sent. */
function isUnrecorded(
  part: UIMessage['parts'][number],
  isSending: (requestId: string) => boolean,
): boolean {
  const { requestId = '' } = readRequest(part) ?? {};
  return isToolUIPart(part) && part.state === 'approval-responded' && isSending(requestId);
}

function mayApprove(shown: ShownRequest): shown is ShownRequest<ApprovalRequest> {
  return (
    shown.request.type === 'approval-request' &&
    shown.actions.some(({ name }) => name === 'approve')
  );
}

/* A request that shows something else has another digest, and its form begins anew. */
function makeFormKey(request: AnyRequest): string {
  return `${request.requestId} ${request.type === 'approval-request' ? request.digest : ''}`;
}

function isFormOf(
  { type }: AnyRequest,
  form: ApprovalForm | QuestionForm | undefined,
): form is ApprovalForm | QuestionForm {
  return type === 'question-request' ? form instanceof QuestionForm : form instanceof ApprovalForm;
}

/** The page whose requests are shown. */
interface RequestPage extends Omit<FormHost, 'focus' | 'acceptPress'> {
  messages: () => readonly UIMessage[];
  /** Tells the person what they have typed for requests that have ended or changed since, and not sent. */
  showUnsent: (lost: readonly { request: string; unsent: string }[]) => void;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  signal: () => AbortSignal;
}

/** The open requests of a page, what their person has filled in, when the buttons work, and where the focus goes. */
export class PageRequests {
  readonly #page: RequestPage;
  readonly #host: FormHost;
  readonly focus = new PageFocus(() => {
    this.#pressed = this.#rested ?? '';
  });
  readonly #forms = new Map<string, ApprovalForm | QuestionForm>();
  /** What was on the screen when the page was last rendered, and what has been there for long enough. */
  #rendered: string | undefined;
  #rested: string | undefined;
  /** What had been there for long enough when a key or the pointer went down. */
  #pressed: string | undefined;
  #changes = 0;
  /** The groups whose whole list was on the screen. */
  readonly #read = new Set<string>();
  readonly #groupRefs = new Map<string, ShownGroup['ref']>();

  constructor(page: RequestPage) {
    this.#page = page;
    this.#host = {
      ...page,
      focus: this.focus,
      acceptPress: (form) => this.#acceptPress(form),
    };
  }

  /** The open requests, in the order of the messages. */
  get shown(): ShownRequest[] {
    const isReady = this.#isReady;
    return this.#openForms.map((form) => form.show(isReady));
  }

  /** The open request of this id. */
  find(requestId: string): ShownRequest | undefined {
    const form = this.#openForms.find(({ request }) => request.requestId === requestId);
    return form?.show(this.#isReady);
  }

  /** Drops the forms of requests that are over. While a stream begins again, the messages lack what is still open. */
  dropEnded(): void {
    this.#drop(() => true);
  }

  #drop(isOver: (form: ApprovalForm | QuestionForm) => boolean): void {
    const open = new Set(this.#open.map(makeFormKey));
    const dropped = [...this.#forms].filter(([key, form]) => !open.has(key) && isOver(form));
    for (const [key] of dropped) this.#forms.delete(key);
    const lost = dropped.flatMap(([, { request, unsent }]) =>
      unsent === undefined ? [] : [{ request: request.text, unsent }],
    );
    if (lost.length > 0) this.#page.showUnsent(lost);
  }

  get openIds(): Set<string> {
    return new Set(this.#open.map(({ requestId }) => requestId));
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  has(requestId: string): boolean {
    return this.openIds.has(requestId);
  }

  /** Similar approvals of which there are several, the riskiest first; without those in whose form the person has filled in something. */
  get groups(): ShownGroup[] {
    const isReady = this.#isReady;
    const untouched = this.#openForms.filter((form) => !form.isTouched);
    const approvals = untouched.map((form) => form.show(isReady)).filter(mayApprove);
    const shown = new Map(approvals.map((each) => [each.requestId, each]));
    return groupRequests(approvals.map(({ request }) => request))
      .filter(({ requests }) => requests.length > 1 && requests[0]?.requireReason === undefined)
      .map(({ toolName = 'request', requests }) =>
        this.#showGroup(
          toolName,
          requests.flatMap(({ requestId }) => shown.get(requestId) ?? []),
        ),
      );
  }

  /** Forgets what the person has filled in. */
  reset(): void {
    this.#forms.clear();
    this.#read.clear();
    this.#rendered = undefined;
    this.#rested = undefined;
  }

  /** Call it after each rendering: it moves the focus on after an answer, and lets the buttons work half a second later. */
  settle(): void {
    const open = this.shown;
    this.focus.follow(
      open
        .filter((each) => !each.isSending && each.whyNot === undefined)
        .map(({ requestId }) => requestId),
    );
    if (this.focus.isUntouched) {
      const refused = [...this.#forms.values()].find((form) => form.refusedField !== undefined);
      this.focus.moveTo(refused?.refusedField);
    }
    const shown = new Set(this.#page.messages().flatMap(({ parts }) => parts.map(readRequestId)));
    this.#drop(({ unsent, request }) => unsent !== undefined && shown.has(request.requestId));
    const seen = this.#describeOpen();
    if (seen === this.#rendered) return;
    this.#rendered = seen;
    this.#rested = undefined;
    void this.#rest(seen, ++this.#changes);
  }

  /* What was there before and comes back has moved twice: the time of its first rest does not count. */
  async #rest(seen: string, change: number): Promise<void> {
    const signal = this.#page.signal();
    await this.#page.wait(restMs, signal);
    if (this.#changes !== change) return;
    if (signal.aborted) {
      this.#rendered = undefined;
      return;
    }
    this.#rested = seen;
    this.#page.changed();
  }

  /* A press that began before the request became what it is was meant for something else. */
  #acceptPress(form: unknown): boolean {
    const pressed = this.#pressed ?? this.#rested;
    this.#pressed = undefined;
    return pressed === this.#rested && this.#isReady && this.#hasForm(form);
  }

  /* An app may keep a form that was shown: of the person before, or of a request that is over. */
  #hasForm(form: unknown): boolean {
    return this.#openForms.some((each) => each === form);
  }

  /* The second click of a double click must not answer the request that has moved there. */
  get #isReady(): boolean {
    return this.#rested !== undefined && this.#rested === this.#describeOpen();
  }

  #describeOpen(): string {
    const { rightsFor, isSending } = this.#page;
    const waiting = this.#open.filter(({ requestId }) => !isSending(requestId));
    const forms = waiting.map((request) => [request, rightsFor(request.requestId)]);
    return JSON.stringify([forms, this.#describeAbove()]);
  }

  /* What changes above a request moves its buttons: everything from the message with the first one down to the last one. */
  #describeAbove(): unknown[] {
    const { messages, isSending } = this.#page;
    const isOpen = (part: UIMessage['parts'][number]): boolean =>
      readOpenRequest(part, isSending).length > 0;
    const all = messages();
    const first = all.findIndex(({ parts }) => parts.some(isOpen));
    const parts = all.slice(Math.max(first, 0)).flatMap((message) => message.parts);
    return parts.slice(0, parts.findLastIndex(isOpen) + 1).map(describeSize);
  }

  get #open(): AnyRequest[] {
    const { messages, isSending } = this.#page;
    return messages().flatMap(({ parts }) =>
      parts.flatMap((part) => readOpenRequest(part, isSending)),
    );
  }

  /** The forms of what is open, each once. */
  get #openForms(): (ApprovalForm | QuestionForm)[] {
    return [...new Set(this.#open.map((request) => this.#findForm(request)))];
  }

  #findForm(request: AnyRequest): ApprovalForm | QuestionForm {
    const key = makeFormKey(request);
    const kept = this.#forms.get(key);
    const form = isFormOf(request, kept) ? kept : this.#makeForm(request);
    if (form instanceof ApprovalForm && request.type === 'approval-request') form.request = request;
    this.#forms.set(key, form);
    return form;
  }

  #makeForm(request: AnyRequest): ApprovalForm | QuestionForm {
    return request.type === 'question-request'
      ? new QuestionForm(request, this.#host)
      : new ApprovalForm(request, this.#host);
  }

  #showGroup(toolName: string, requests: ShownRequest<ApprovalRequest>[]): ShownGroup {
    const key = requests.map(({ request }) => request.digest).join();
    const isReady = this.#read.has(key) && requests.every((each) => each.isReady);
    return {
      key,
      name: `${requests.length}: ${inertText(toolName)}`,
      requests,
      ref: this.#observe(key),
      isReady,
      approveAll: () => {
        /* An app may keep a group in which something was filled in since. */
        if (!isReady || !this.groups.some((each) => each.key === key && each.isReady)) return;
        for (const { request } of requests) {
          this.focus.leave(request.requestId);
          this.#page.answer(approve(request));
        }
      },
    };
  }

  #observe(key: string): ShownGroup['ref'] {
    const known = this.#groupRefs.get(key);
    if (known !== undefined) return known;
    let observer: InstanceType<typeof IntersectionObserver> | undefined;
    const ref: ShownGroup['ref'] = (element) => {
      observer?.disconnect();
      if (element === null) return;
      observer = new IntersectionObserver((seen) => {
        if (this.#read.has(key) || !seen.some(({ isIntersecting }) => isIntersecting)) return;
        this.#read.add(key);
        this.#page.changed();
      });
      observer.observe(element);
    };
    this.#groupRefs.set(key, ref);
    return ref;
  }
}
