import { z } from 'zod';

/** A bill that the office has received. Amounts are euros. */
export const invoiceSchema = z.object({
  invoice: z.string(),
  payee: z.string(),
  iban: z.string(),
  amount: z.number().positive(),
});
/** A file that the office keeps. */
export const fileSchema = z.object({ path: z.string(), megabytes: z.number() });

/** A bill that the office has received. */
export type Invoice = z.infer<typeof invoiceSchema>;
/** A file that the office keeps. */
export type OfficeFile = z.infer<typeof fileSchema>;

/* Made up, with IBANs that banks print in their examples. */
const firstPayee = { payee: 'Papierhaus Nord', iban: 'DE02120300000000202051', amount: 184.3 };
const payees = [
  firstPayee,
  { payee: 'Lumen Hosting', iban: 'DE02500105170137075030', amount: 1290 },
  { payee: 'Café Morgenrot', iban: 'DE02300209000106531065', amount: 67.5 },
  { payee: 'Glaserei Winter', iban: 'DE02100500000054540402', amount: 412 },
];

/** The next two bills that are not paid: there are always new ones. */
export function openInvoices(isPaid: (invoice: string) => boolean): Invoice[] {
  return firstThat(2, (index) => {
    const invoice = String(2041 + index * 3);
    return isPaid(invoice)
      ? undefined
      : { invoice, ...(payees[index % payees.length] ?? firstPayee) };
  });
}

/** The four oldest backups that are not deleted: there is always a next one. */
export function oldBackups(isDeleted: (path: string) => boolean): OfficeFile[] {
  return firstThat(4, (index) => {
    const path = `backups/week-${String(index + 1).padStart(2, '0')}.zip`;
    return isDeleted(path) ? undefined : { path, megabytes: 640 + ((index * 137) % 400) };
  });
}

function firstThat<ITEM>(count: number, itemAt: (index: number) => ITEM | undefined): ITEM[] {
  const found: ITEM[] = [];
  for (let index = 0; found.length < count; index += 1) {
    const item = itemAt(index);
    if (item !== undefined) found.push(item);
  }
  return found;
}
