import { isToolUIPart, type UIMessage } from 'ai';
import { type ApprovalRequest, approvalRequestSchema } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import { groupRequests } from '../../../view/group-requests.ts';
import { questionRequestSchema } from '../../../content/question.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';
import { makeApprovalAnswer, restMs } from '../../../view/answer-form.ts';
import { type FocusTarget, PageFocus } from './page-focus.ts';
import { type FormHost, RequestForm, type ShownRequest } from './request-form.ts';

/** Open requests that are alike. They can be approved together once the end of the list, with each whole request, was on the screen. */
export interface ShownGroup {
  /** A React key, which changes when one of the requests shows something else. */
  key: string;
  /** The number of requests and their tool; safe to show. */
  name: string;
  /** The requests of the group, each to be shown whole. */
  requests: ShownRequest<ApprovalRequest>[];
  /** The end of the list. */
  ref: (element: FocusTarget | null) => void;
  /** True if the end of the list was on the screen and the buttons work. */
  isReady: boolean;
  /** Approves each of them separately, if `isReady`. */
  approveAll: () => void;
}

/* The package is compiled without the types of browsers. */
declare const IntersectionObserver: new (
  listener: (seen: readonly { isIntersecting: boolean }[]) => void,
) => { observe(element: unknown): void; disconnect(): void };

/** Reads the request of a part: in a tool part it is about the call, in a data part it is any other, until it ends. */
export function readRequest(part: UIMessage['parts'][number]): UserInputRequest | undefined {
  if (isToolUIPart(part)) return readAsked(part.approval?.descriptor);
  if (!('data' in part)) return undefined;
  const request = readAsked(part.data);
  /* Other data parts may be written by a person or a tool: a forged request in one must not replace the real one. */
  const isOwn = part.type === `data-${request?.type}` && part.id === request?.requestId;
  return isOwn ? request : undefined;
}

/** The id of the request that a part shows, whether it is open or over. */
function readRequestId(part: UIMessage['parts'][number]): string | undefined {
  return 'data' in part ? part.id : readRequest(part)?.requestId;
}

function readAsked(asked: unknown): UserInputRequest | undefined {
  if (typeof asked !== 'object' || asked === null) return undefined;
  if (!parsed.has(asked)) parsed.set(asked, parseRequest(asked));
  return parsed.get(asked);
}

/* A page reads all of its parts at each rendering. */
const parsed = new WeakMap<object, UserInputRequest | undefined>();

function parseRequest(asked: object): UserInputRequest | undefined {
  return questionRequestSchema.safeParse(asked).data ?? approvalRequestSchema.safeParse(asked).data;
}

/* A request is open until its answer is recorded. */
function readOpenRequest(
  part: UIMessage['parts'][number],
  isSending: (requestId: string) => boolean,
): UserInputRequest[] {
  const request = readRequest(part);
  if (request === undefined) return [];
  const isAsked = !isToolUIPart(part) || part.state === 'approval-requested';
  return isAsked || isUnrecorded(part, isSending) ? [request] : [];
}

/** Describes everything that affects the size of a part on the page. */
function describeSize(part: UIMessage['parts'][number]): unknown {
  if (part.type === 'text') return part.text;
  if (!isToolUIPart(part)) return undefined;
  return [part.state, part.input, part.errorText, part.approval?.reason];
}

/** Checks whether a part shows an answer that is being sent. */
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

/* A request that shows something else has another digest, and gets a new form. */
function makeFormKey(request: UserInputRequest): string {
  return `${request.type} ${request.requestId} ${request.type === 'approval-request' ? request.digest : ''}`;
}

/** The page whose requests are shown. */
interface RequestPage extends Omit<FormHost, 'focus' | 'acceptPress'> {
  messages: () => readonly UIMessage[];
  /** Shows the person the unsent text that they typed for requests that have ended or changed since. */
  showUnsent: (lost: readonly { request: string; unsent: string }[]) => void;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  signal: () => AbortSignal;
}

/** The open requests of a page, with their forms, the rest time of their buttons, and the focus. */
export class PageRequests {
  readonly #page: RequestPage;
  readonly #host: FormHost;
  readonly focus = new PageFocus(() => {
    this.#pressed = this.#rested ?? '';
  });
  readonly #forms = new Map<string, RequestForm>();
  /** The content of the last rendering, and the content that has been on the screen for long enough. */
  #rendered: string | undefined;
  #rested: string | undefined;
  /** The content that had been there for long enough when a key or the pointer went down. */
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

  /** Finds the open request with this id. */
  find(requestId: string): ShownRequest | undefined {
    const form = this.#openForms.find(({ request }) => request.requestId === requestId);
    return form?.show(this.#isReady);
  }

  /** Drops the forms of requests that are over. While a stream restarts, the messages lack open requests. */
  dropEnded(): void {
    this.#drop(() => true);
  }

  #drop(isOver: (form: RequestForm) => boolean): void {
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

  /** The groups of several similar approvals, the riskiest first, without those whose form the person has touched. */
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

  /** Moves the focus on after an answer, and lets the buttons work half a second later. Call it after each rendering. */
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

  /* Content that disappears and comes back has moved twice: its first rest does not count. */
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

  /* A press that began before the request got its present form was meant for something else. */
  #acceptPress(form: unknown): boolean {
    const pressed = this.#pressed ?? this.#rested;
    this.#pressed = undefined;
    return pressed === this.#rested && this.#isReady && this.#hasForm(form);
  }

  /* An app may keep an old form: of the previous person, or of a request that is over. */
  #hasForm(form: unknown): boolean {
    return this.#openForms.some((each) => each === form);
  }

  /* The second click of a double click must not answer a request that has moved under the pointer. */
  get #isReady(): boolean {
    return this.#rested !== undefined && this.#rested === this.#describeOpen();
  }

  #describeOpen(): string {
    const { rightsFor, isSending } = this.#page;
    const waiting = this.#open.filter(({ requestId }) => !isSending(requestId));
    const forms = waiting.map((request) => [request, rightsFor(request.requestId)]);
    return JSON.stringify([forms, this.#describeAbove()]);
  }

  /* Changes above a request move its buttons: everything from the message with the first request down to the last. */
  #describeAbove(): unknown[] {
    const { messages, isSending } = this.#page;
    const isOpen = (part: UIMessage['parts'][number]): boolean =>
      readOpenRequest(part, isSending).length > 0;
    const all = messages();
    const first = all.findIndex(({ parts }) => parts.some(isOpen));
    const parts = all.slice(Math.max(first, 0)).flatMap((message) => message.parts);
    return parts.slice(0, parts.findLastIndex(isOpen) + 1).map(describeSize);
  }

  get #open(): UserInputRequest[] {
    const { messages, isSending } = this.#page;
    return messages().flatMap(({ parts }) =>
      parts.flatMap((part) => readOpenRequest(part, isSending)),
    );
  }

  /** The forms of the open requests, each once. */
  get #openForms(): RequestForm[] {
    return [...new Set(this.#open.map((request) => this.#findForm(request)))];
  }

  #findForm(request: UserInputRequest): RequestForm {
    const key = makeFormKey(request);
    const form = this.#forms.get(key) ?? new RequestForm(request, this.#host);
    form.request = request;
    this.#forms.set(key, form);
    return form;
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
        /* An app may keep a group with a form that was filled in since. */
        if (!isReady || !this.groups.some((each) => each.key === key && each.isReady)) return;
        for (const { request } of requests) {
          this.focus.leave(request.requestId);
          const rights = { mayApprove: true, mayEdit: false };
          const made = makeApprovalAnswer({ request, rights, digest: request.digest }, {});
          if (made.type === 'made') this.#page.answer(made.response);
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
