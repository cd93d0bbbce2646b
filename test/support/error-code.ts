import { HoldpointError } from 'holdpoint';

/** The code a promise is refused with, or what else became of it. */
export async function errorCode(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: unknown) => (HoldpointError.isInstance(error) ? error.code : error),
  );
}
