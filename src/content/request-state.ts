/** What can need a person: see `RequestKind`. */
export const requestKinds = ['approval', 'question', 'lost-call', 'stuck-thread'] as const;

/** What can have become of it: see `RequestState`. */
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
