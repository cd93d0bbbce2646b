import type { ScriptedCall, ScriptedStep } from '../support/script.ts';
import { type HistoryCall, ReasoningMemory } from './reasoning-memory.ts';
import { mcpItem } from './responses-mcp.ts';
import type { InputItem } from './responses-request.ts';

/** What kind of item stands at a place of a conversation; `answer` is an assistant message. */
export type ItemKind =
  | 'message'
  | 'answer'
  | 'reasoning'
  | 'function_call'
  | 'function_call_output'
  | 'mcp_approval_request'
  | 'mcp_approval_response'
  | 'mcp_call';

/** An item that a server gave. */
export interface GivenItem {
  kind: ItemKind;
  id: string;
  /** As it stood in the response. */
  item: object;
  /** What came right after it. */
  next: ItemKind | undefined;
  /** The reasoning of its turn. */
  reasoningId: string | undefined;
  call?: HistoryCall;
}

/** The items that one server gave, and which of them it keeps for references. */
export class ResponsesItems {
  readonly #given = new Map<string, GivenItem>();
  readonly #stored = new Set<string>();
  readonly #memory = new ReasoningMemory();
  #turns = 0;

  /** The output of a step, remembered; with `store`, it can be referred to from now on. */
  give(step: ScriptedStep, { store, encrypt }: { store: boolean; encrypt: boolean }): object[] {
    this.#turns += 1;
    const items = outputOf(step, { turn: this.#turns, encrypt, asked: this.approvalRequests });
    for (const item of items) this.#given.set(item.id, item);
    if (store) for (const { id } of items) this.#stored.add(id);
    this.#memory.remember(
      items[0]?.reasoningId,
      items.flatMap(({ call }) => call ?? []),
    );
    return items.map(({ item }) => item);
  }

  /** All requests for approval that the server gave. */
  get approvalRequests(): GivenItem[] {
    return [...this.#given.values()].filter(({ kind }) => kind === 'mcp_approval_request');
  }

  given(id: string): GivenItem | undefined {
    return this.#given.get(id);
  }

  /** The item that a request may refer to by its id alone. */
  stored(id: string): GivenItem | undefined {
    return this.#stored.has(id) ? this.given(id) : undefined;
  }

  /** The reasoning items of which one must stand before an item in its turn; none when it may stand alone. */
  reasoningBefore(item: InputItem): readonly string[] {
    const given = 'id' in item && item.id !== undefined ? this.given(item.id) : undefined;
    if (given !== undefined) {
      const { kind, reasoningId } = given;
      return kind === 'reasoning' || reasoningId === undefined ? [] : [reasoningId];
    }
    if (item.type !== 'function_call') return [];
    return this.#memory.before({ id: item.call_id, name: item.name, input: item.arguments });
  }
}

type Unplaced = Pick<GivenItem, 'kind' | 'id' | 'item' | 'call'>;

interface Giving {
  turn: number;
  encrypt: boolean;
  /** The requests for approval that were given before. */
  asked: readonly GivenItem[];
}

function outputOf(step: ScriptedStep, { turn, encrypt, asked }: Giving): GivenItem[] {
  const { reasoning, text, calls = [], finish } = step;
  const status = finish === 'length' || finish === 'content-filter' ? 'incomplete' : 'completed';
  const items = [
    ...(reasoning === undefined ? [] : [reasoningItem(reasoning, turn, encrypt)]),
    ...(text === undefined ? [] : [answerItem(text, `msg_${turn}`, status)]),
    ...calls.map((call, index) =>
      call.atProvider === undefined
        ? callItem(call, `fc_${turn}_${index}`, status)
        : mcpItem(call, call.atProvider, { id: `mcp_${turn}_${index}`, asked }),
    ),
  ];
  const reasoningId = reasoning === undefined ? undefined : items[0]?.id;
  return items.map((item, index) => ({ ...item, next: items[index + 1]?.kind, reasoningId }));
}

function reasoningItem(reasoning: string, turn: number, encrypt: boolean): Unplaced {
  const id = `rs_${turn}`;
  const summary = reasoning === '' ? [] : [{ type: 'summary_text', text: reasoning }];
  const sealed = Buffer.from(`sealed ${turn} ${reasoning}`).toString('base64');
  const encrypted = encrypt ? { encrypted_content: sealed } : {};
  return { kind: 'reasoning', id, item: { type: 'reasoning', id, summary, ...encrypted } };
}

function answerItem(text: string, id: string, status: string): Unplaced {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { kind: 'answer', id, item: { type: 'message', id, role: 'assistant', status, content } };
}

function callItem({ id: callId, name, input }: ScriptedCall, id: string, status: string): Unplaced {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const item = { type: 'function_call', id, call_id: callId, name, arguments: text, status };
  return { kind: 'function_call', id, item, call: { id: callId, name, input } };
}
