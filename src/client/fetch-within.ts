/**
 * Calls `fetch` with a time limit that includes the body of the answer, which is read before this resolves. Rejects with a
 * TimeoutError after `limitMs`.
 */
export async function fetchWithin(limitMs: number, request: Request): Promise<Response> {
  const ending = new AbortController();
  // Not AbortSignal.timeout(): Node 20 collects it while only AbortSignal.any() refers to it, and the limit is lost.
  const timer = setTimeout(() => ending.abort(new DOMException('The call took too long.', 'TimeoutError')), limitMs);
  try {
    const answer = await fetch(request, { signal: AbortSignal.any([request.signal, ending.signal]) });
    return new Response(answer.body === null ? null : await answer.arrayBuffer(), answer);
  } finally {
    clearTimeout(timer);
  }
}
