import type { QuestionRequestContent, QuestionResponseContent } from 'holdpoint';
import { askUserQuestion } from 'holdpoint/tools';
import { askOne } from './asked.ts';

/** The single choice of seed 001. */
export const database = {
  question: 'Which database should we use?',
  header: 'Database',
  multiSelect: false,
  options: [
    { label: 'PostgreSQL', description: 'Relational with advanced features' },
    { label: 'SQLite', description: 'Lightweight embedded database' },
  ],
};

/** The multiple choice of seed 001. */
export const features = {
  question: 'Which features do you want?',
  header: 'Features',
  multiSelect: true,
  options: [
    { label: 'Caching', description: 'Response caching' },
    { label: 'Logging', description: 'Detailed logs' },
    { label: 'Metrics', description: 'Performance monitoring' },
  ],
};

/** A thread that waits for the answers to these questions. */
export const askQuestions = async (...questions: unknown[]) =>
  askOne(askUserQuestion(), { questions });

/** Picks by header. */
export function answer(
  { requestId }: QuestionRequestContent,
  picks: Record<string, string[]>,
): QuestionResponseContent {
  const answers = Object.entries(picks).map(([key, optionIds]) => ({ key, optionIds }));
  return { type: 'question-response', requestId, status: 'answered', answers };
}

/** A response in the words of the seed. */
export function wire({ requestId }: QuestionRequestContent, answers: Record<string, string>) {
  return { request_id: requestId, answers };
}
