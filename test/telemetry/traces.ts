import type { ExportedSpan } from './exported.ts';

/** The traces of the spans, oldest first, each as its lines: a name a span, indented by two under its parent, in the order they began. */
export function traces(spans: readonly ExportedSpan[]): string[][] {
  const inOrder = spans.toSorted((one, other) => one.startedAt - other.startedAt);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = inOrder.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''));
  return roots.map((root) => branch(root, inOrder, ''));
}

function branch(span: ExportedSpan, spans: readonly ExportedSpan[], indentation: string): string[] {
  const children = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  return [
    `${indentation}${span.name}`,
    ...children.flatMap((child) => branch(child, spans, `${indentation}  `)),
  ];
}

/** The one span of a name. */
export function spanOf(spans: readonly ExportedSpan[], name: string): ExportedSpan {
  const [span, ...others] = spans.filter((other) => other.name === name);
  if (span === undefined || others.length > 0) throw new Error(`Not one span '${name}'.`);
  return span;
}
