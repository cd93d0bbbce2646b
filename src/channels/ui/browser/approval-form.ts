import { type ApprovalRequest, approve, reject } from '../../../content/approval.ts';
import type { Remember } from '../../../content/approval-terms.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import { RequestForm, type ShownAction, type ShownField } from './request-form.ts';
import { describeRemember } from './request-lines.ts';

/** What a person has filled in for an approval request. */
export class ApprovalForm extends RequestForm<ApprovalRequest> {
  /** The standing approval that the person has ticked. */
  #remembered: string | undefined;

  override get isTouched(): boolean {
    return super.isTouched || this.#remembered !== undefined;
  }

  protected override describeCall(): string | undefined {
    const { toolCall } = this.request;
    return toolCall && describeCall(toolCall.toolName, toolCall.input);
  }

  protected override listFields(): ShownField[] {
    const { mayApprove, mayReject } = this.#rights;
    const inputs = this.#editableNames.map((name) => {
      const initial = formatValue(this.#input[name]);
      return this.makeTextField(this.makeField(inputKey(name), name), { initial });
    });
    const isRequired = this.request.requireReason === true;
    const label = isRequired ? 'Reason (required to approve)' : 'Reason';
    const reason = this.makeTextField(this.makeField(reasonKey, label), { label: 'Reason' });
    return [...inputs, ...(mayApprove || mayReject ? [reason] : []), ...this.#listRemember()];
  }

  protected override listActions(): ShownAction[] {
    const { mayApprove, mayReject, mayWithdraw } = this.#rights;
    const all: (ShownAction | false)[] = [
      mayApprove && { name: 'approve', label: 'Approve', run: this.#approve },
      mayReject && { name: 'reject', label: 'Reject', run: this.#reject },
      mayWithdraw && { name: 'withdraw', label: 'Withdraw my approval', run: this.#withdraw },
    ];
    return all.filter((each) => each !== false);
  }

  protected override findField(path: readonly string[]): string | undefined {
    const name = this.#editableNames.find((each) => path[0] === each);
    return name === undefined ? undefined : inputKey(name);
  }

  /* A server that sends no rights checks the answers all the same. */
  get #rights(): Omit<RequestRights, 'requestId' | 'threadId' | 'mayReassign'> {
    const { requestId, votes = [], remember } = this.request;
    return (
      this.host.rightsFor(requestId) ?? {
        mayAnswer: true,
        mayApprove: true,
        mayReject: true,
        mayEdit: true,
        mayWithdraw: votes.length > 0,
        ...(remember && { mayRemember: remember }),
      }
    );
  }

  get #isForQuorum(): boolean {
    return this.request.quorum !== undefined;
  }

  /** The standing approval that the person may ask for. */
  get #allowed(): Remember | undefined {
    const { mayApprove, mayRemember } = this.#rights;
    return mayApprove ? mayRemember : undefined;
  }

  /** The one that is ticked, if it is still as it was then. */
  get #ticked(): Remember | undefined {
    return JSON.stringify(this.#allowed) === this.#remembered ? this.#allowed : undefined;
  }

  get #input(): Record<string, unknown> {
    const input = this.request.toolCall?.input;
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
    return isObject ? { ...input } : {};
  }

  get #editableNames(): string[] {
    const { editable } = this.request;
    const { mayApprove, mayEdit } = this.#rights;
    if (editable === undefined || !mayApprove || !mayEdit) return [];
    return Object.keys(this.#input).filter((name) => editable === true || editable.includes(name));
  }

  #listRemember(): ShownField[] {
    const allowed = this.#allowed;
    if (allowed === undefined) return [];
    const label = describeRemember(allowed, { isForQuorum: this.#isForQuorum });
    const isPicked = this.#ticked !== undefined;
    const picked = { key: rememberKey, type: 'checkbox', isPicked } as const;
    const option = this.makeOption({ id: 'on', label }, picked, (is) => {
      this.#remembered = is ? JSON.stringify(allowed) : undefined;
    });
    return [this.makeField(rememberKey, 'Later calls', [option])];
  }

  #approve = (): void => {
    const { request } = this;
    const reason = this.#reason;
    this.clearErrors();
    const changes = this.#editableNames.flatMap((name) => this.#parseChange(name));
    if (request.requireReason === true && reason === undefined) {
      this.setError(reasonKey, 'Give a reason to approve this.');
    }
    if (this.refuseErrors()) return;
    const remember = this.#ticked;
    const input = { ...this.#input, ...Object.fromEntries(changes) };
    this.send(
      approve(request, {
        ...(reason !== undefined && { reason }),
        ...(remember && { remember }),
        ...(changes.length > 0 && { input }),
      }),
    );
  };

  #reject = (): void => {
    this.clearErrors();
    const reason = this.#reason;
    /* Where several must approve a call, one person can't reject later ones. */
    const remember = this.#isForQuorum ? undefined : this.#ticked;
    const why = { ...(reason !== undefined && { reason }), ...(remember && { remember }) };
    this.send(reject(this.request, why));
  };

  #withdraw = (): void => this.host.withdraw(this.request.requestId);

  get #reason(): string | undefined {
    return this.readText(reasonKey).trim() || undefined;
  }

  #parseChange(name: string): [string, unknown][] {
    const old = this.#input[name];
    const text = this.readText(inputKey(name), formatValue(old));
    if (text === formatValue(old)) return [];
    if (typeof old === 'string') return [[name, text]];
    try {
      return [[name, JSON.parse(text)]];
    } catch {
      this.setError(inputKey(name), `Write ${jsonWords.get(typeof old) ?? 'valid JSON'}.`);
      return [];
    }
  }
}

/** A tool and its whole input, as text that is safe to show. */
export function describeCall(toolName: string, input: unknown): string {
  return inertText(`${toolName} ${JSON.stringify(input, null, 2)}`);
}

/* The fields of an input have a prefix, so that none of them is another field of the form. */
const inputKey = (name: string): string => `input.${name}`;
const reasonKey = 'reason';
const rememberKey = 'remember';
const jsonWords = new Map([
  ['number', 'a number'],
  ['boolean', 'true or false'],
]);

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
