import type { MayAnswer } from 'holdpoint';

const finance = new Set(['ben', 'cleo']);

const mayAnswer: MayAnswer = ({ principal }) => finance.has(String(principal));

export default { mayAnswer };
