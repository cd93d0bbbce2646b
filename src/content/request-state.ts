/** The kinds of rows that need a person: see `RequestKind`. */
export const requestKinds = ['approval', 'question', 'lost-call', 'stuck-thread'] as const;

/** The states of such a row: see `RequestState`. */
export const requestStates = [
  'open',
  'approved',
  'rejected',
  'answered',
  'dismissed',
  'expired',
  'cancelled',
  'invalidated',
  'settled',
] as const;
