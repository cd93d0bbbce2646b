import type { ToolName } from './consent-firm.ts';

/** How something that somebody did ended: it is unknown where the process died meanwhile. */
export type End = 'taken' | 'refused' | 'unknown';

/** The rules whose breach the oracle tells apart. */
export type Clause =
  | 'votes'
  | 'lent rights'
  | 'edits'
  | 'stops'
  | 'cancels'
  | 'names'
  | 'links'
  | 'starts';

export interface Fault {
  clause: Clause;
  sentence: string;
}

/** A request as somebody saw it. */
export interface Seen {
  requestId: string;
  threadId: string;
  ref: string;
  toolName: ToolName;
  input: string;
  isEscalated: boolean;
  requester: string;
  expiresAt: number;
}

/** What somebody said to a request. */
export interface Statement {
  requestId: string;
  person: string;
  isYes: boolean;
  /** The input that they meant, and whether they said so. */
  input: string;
  isNamed: boolean;
  edits: boolean;
  remembers: boolean;
  end: End;
}

export interface Said extends Statement {
  group: number;
  /** The rights that the person had: `own`, or the name of whoever had lent theirs. */
  rights: Set<string>;
  /** Whether somebody had edited the request before. */
  wasEdited: boolean;
}

/** The approval of an input by as many people as are demanded; `lacks`: it is one only if these rules are ignored. */
interface Completion {
  input: string;
  by: Said[];
  lacks: Clause[];
}

/** A request, and what was said to it. */
export interface Known extends Seen {
  /** Before which group it was last seen open. */
  openBefore: number;
  said: Said[];
  inputs: Set<string>;
  wasEdited: boolean;
  isRejected: boolean;
  isOver: boolean;
  isCancelled: boolean;
  isHeld: boolean;
  /** To whom each person has lent their right. */
  lent: Map<string, Set<string>>;
  completions: Completion[];
  /** Who wanted later calls decided, after their answer. */
  rememberedBy: { person: string; isOwn: boolean }[];
  isRevoked: boolean;
}

/** A call as its tool saw it. */
export interface Start {
  ref: string;
  toolName: ToolName;
  kind: string;
  input: string;
  requester: string;
}

/** Something other than an answer that somebody did. */
export type Deed =
  | { type: 'withdraw'; requestId: string; person: string; end: End }
  | { type: 'reassign'; requestId: string; person: string; to: string; end: End }
  | { type: 'remember'; requestId: string; person: string; end: End }
  | { type: 'revoke'; requestId: string; end: End }
  | { type: 'retry'; ref: string; end: End }
  | { type: EndingType | 'resume'; threadId: string; person: string | undefined; end: End };

/** What ends requests; an interruption, which is a message, ends the open ones alone. */
export type EndingType = 'stop' | 'cancel' | 'interrupt';

/** Whether enough people have approved some input of a call, by all rules. */
export function isApproved({ completions }: Known): boolean {
  return completions.some(({ lacks }) => lacks.length === 0);
}
