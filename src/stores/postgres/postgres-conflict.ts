import type { PostgresResult } from './postgres-pool.ts';

const uniqueViolation = '23505';
const serializationFailure = '40001';

/** An empty result after an error that a concurrent write caused. Throws any other error again. */
export function nothingOnConflict(error: unknown): PostgresResult {
  if (isSerializationFailure(error) || isUniqueViolation(error)) {
    return { rows: [], rowCount: 0 };
  }
  throw error;
}

/** Whether an error is that of a transaction which may succeed when it is run again. */
export function isSerializationFailure(error: unknown): boolean {
  return codeOf(error) === serializationFailure;
}

/** Whether an error is that of a row whose key is in the table. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === uniqueViolation;
}

function codeOf(error: unknown): unknown {
  return Reflect.get(Object(error), 'code');
}
