import { z } from 'zod';

/** Which tests a `suite-runner-process.ts` shall run. */
export const suiteOrderSchema = z.object({
  /** The test file, relative to the project. */
  suite: z.string(),
  /** A regular expression of the names of its tests. */
  name: z.string(),
  /** The files that are others while the tests run. */
  changed: z.array(z.string()),
});
export type SuiteOrder = z.infer<typeof suiteOrderSchema>;

export const suiteReportSchema = z.object({ hasFailed: z.boolean(), said: z.string() });
/** What came of an order. */
export type SuiteReport = z.infer<typeof suiteReportSchema>;
