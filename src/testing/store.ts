import { appendCases } from './conformance/append-cases.ts';
import { claimCases } from './conformance/claim-cases.ts';
import type { StoreConformanceCase } from './conformance/conformance-case.ts';
import { deleteCases } from './conformance/delete-cases.ts';
import { listCases } from './conformance/list-cases.ts';
import { noticeCases } from './conformance/notice-cases.ts';

export type { StoreConformanceCase } from './conformance/conformance-case.ts';

/**
 * What every store must do, for any test runner: give each case an empty store.
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
  ...appendCases,
  ...listCases,
  ...deleteCases,
  ...claimCases,
  ...noticeCases,
];
