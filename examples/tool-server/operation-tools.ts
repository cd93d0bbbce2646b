import type { ServedTool } from 'holdpoint/rap';
import { z } from 'zod';
import type { Ledger } from './ledger.ts';

const nameSchema = z.string().regex(/^[a-z][a-z0-9-]{0,40}$/);

/** Two tools of an operations team. Each asks the user before it does anything. */
export function operationTools(ledger: Ledger) {
  const deploy: ServedTool<{ service: string }> = {
    description: 'Deploys a service. The user is asked where to.',
    inputSchema: z.object({ service: nameSchema }),
    async execute({ service }, { askUser }) {
      const { label: target } = await askUser({
        prompt: `Where should ${service} be deployed?`,
        choices: ['Staging', 'Production', 'Nowhere'],
        default: 2,
      });
      if (target === 'Nowhere') return `Error: The user does not want ${service} to be deployed.`;
      await ledger.write({ deployed: service, target });
      return `${service} is deployed to ${target}.`;
    },
  };

  const deleteBackups: ServedTool<{ service: string; olderThanDays: number }> = {
    description: 'Deletes old backups of a service. The user has to permit it.',
    inputSchema: z.object({ service: nameSchema, olderThanDays: z.int().min(1) }),
    async execute({ service, olderThanDays }, { askForSession }) {
      const isAllowed = await askForSession({
        prompt: `May I delete backups of ${service} that are older than ${olderThanDays} days?`,
        key: `delete-backups:${service}:${olderThanDays}`,
      });
      if (!isAllowed) return `Error: The user does not permit deleting backups of ${service}.`;
      await ledger.write({ deletedBackups: service, olderThanDays });
      return `The backups of ${service} older than ${olderThanDays} days are deleted.`;
    },
  };

  return { deploy, deleteBackups };
}
