import { deletionCases } from './conformance/deletion-cases.ts';
import { logCases } from './conformance/log-cases.ts';
import { workerCases } from './conformance/worker-cases.ts';
import type { StoreConformanceCase } from './conformance/conformance-case.ts';
import { grantCases } from './conformance/grant-cases.ts';
import { listCases } from './conformance/list-cases.ts';
import { requestCases } from './conformance/request-cases.ts';
import { requestFeedCases } from './conformance/request-feed-cases.ts';
import { requestListCases } from './conformance/request-list-cases.ts';

/**
 * The cases that every store must pass, for any test runner. Call `check` of each case with an empty store.
 *
 * @example
 * for (const { name, check } of storeConformance) {
 *   test(name, async () => {
 *     const database = await freshDatabase();
 *     await check(myStore(database), () => myStore(database));
 *   });
 * }
 */
export const storeConformance: readonly StoreConformanceCase[] = [
  ...logCases,
  ...deletionCases,
  ...listCases,
  ...grantCases,
  ...requestCases,
  ...requestListCases,
  ...requestFeedCases,
  ...workerCases,
];
