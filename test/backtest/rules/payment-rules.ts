import { candidateTools } from '../recorded-payments.ts';

/* Rules as `holdpoint backtest` loads them: small payments run unasked. */
export default {
  tools: candidateTools,
  toolApproval: {
    pay: ({ amount }: { amount: number }) => (amount <= 100 ? 'approved' : 'user-approval'),
  },
};
