import { z } from 'zod';
import {
  type RequestReassignment,
  reassignmentSchema,
  type RequestEdit,
  requestEditSchema,
  type Vote,
  voteSchema,
} from './vote.ts';

/**
 * The acts of people on a request since it was opened. Tables define how each part is handled wherever requests are shown; a table that
 * lacks a part does not compile.
 */
export interface RequestHistory {
  /** The approvals so far, of a request that needs several. Not covered by the digest. */
  votes?: Vote[] | undefined;
  /** The reassignments: who asked whom to answer instead. Not covered by the digest. */
  reassignments?: RequestReassignment[] | undefined;
  /**
   * The edit that an approver has made. With it, `toolCall`, `text` and `digest` are those of the edited input, which will run;
   * `edit.original` has the previous ones.
   */
  edit?: RequestEdit | undefined;
  /**
   * Set once an approver has edited it, also after the edit has ended: an approval must then repeat the digest, or contain the input to
   * run.
   */
  wasEdited?: true | undefined;
}

/** The schemas of a request's history. */
export const historySchemas = {
  votes: z.array(voteSchema).optional(),
  reassignments: z.array(reassignmentSchema).optional(),
  edit: requestEditSchema.optional(),
  wasEdited: z.literal(true).optional(),
} satisfies { readonly [FIELD in keyof RequestHistory]-?: z.ZodType<RequestHistory[FIELD]> };

/** A history that has all parts. */
type WholeHistory = { [FIELD in keyof RequestHistory]-?: NonNullable<RequestHistory[FIELD]> };

/** Changes each part of a history. A table that lacks one does not compile. */
export type HistoryChange<CONTEXT> = {
  readonly [FIELD in keyof WholeHistory]: (
    part: WholeHistory[FIELD],
    context: CONTEXT,
  ) => WholeHistory[FIELD];
};

const hidden: HistoryChange<undefined> = {
  votes: (votes) => votes.map(omitPrincipal),
  reassignments: (reassignments) => reassignments.map(omitPrincipal),
  edit: omitPrincipal,
  wasEdited: (wasEdited) => wasEdited,
};

/** True for the parts that an answer is about: the digests of what a person is shown cover them. */
const isAnswered: { readonly [FIELD in keyof RequestHistory]-?: boolean } = {
  votes: false,
  reassignments: false,
  edit: true,
  wasEdited: true,
};

function listFields(): (keyof RequestHistory)[] {
  return Object.keys(isAnswered).filter(
    (field): field is keyof RequestHistory => field in isAnswered,
  );
}

/** The history with each of its parts changed. */
export function changeHistory<CONTEXT>(
  history: RequestHistory,
  change: HistoryChange<CONTEXT>,
  context: CONTEXT,
): RequestHistory {
  const changed: RequestHistory = {};
  const changePart = <FIELD extends keyof WholeHistory>(
    field: FIELD,
    part: WholeHistory[FIELD] | undefined,
  ): void => {
    if (part !== undefined) Object.assign(changed, { [field]: change[field](part, context) });
  };
  for (const field of listFields()) changePart(field, history[field]);
  return changed;
}

/** A history for others to read: without the principals, which may hold private data, such as a token. */
export function hideHistory(history: RequestHistory): RequestHistory {
  return changeHistory(history, hidden, undefined);
}

/** Omits the parts of a request that an answer is not about: the votes and reassignments of others. An edit stays. */
export function omitUnanswered<REQUEST extends RequestHistory>(request: REQUEST): REQUEST {
  return omit(
    request,
    listFields().filter((field) => !isAnswered[field]),
  );
}

/** Omits the history of a request. An edit is not undone by that. */
export function omitHistory<REQUEST extends RequestHistory>(request: REQUEST): REQUEST {
  return omit(request, listFields());
}

function omit<REQUEST extends RequestHistory>(
  request: REQUEST,
  omitted: readonly (keyof RequestHistory)[],
): REQUEST {
  const rest = { ...request };
  for (const field of omitted) delete rest[field];
  return rest;
}

function omitPrincipal<BY extends { principal?: unknown }>({
  principal: _principal,
  ...by
}: BY): Omit<BY, 'principal'> {
  return by;
}
