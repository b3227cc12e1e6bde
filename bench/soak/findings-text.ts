/** Formats wrong answers for printing: the request, the expected and the actual response. */
import type { Finding } from './load/findings.ts'
import type { Run } from './record.ts'

export function findingsText({ findings, wrong }: Run): string {
	const title = `The first ${findings.length} of ${wrong} wrong answers:`
	return [title, ...findings.map(findingText)].join('\n\n')
}

function findingText({ at, kind, server, problems, request, expected, got }: Finding, index: number): string {
	return [
		`${index + 1}. ${kind}, server ${server}, after ${at} s: ${problems.join('; ')}`,
		...(request === '' ? [] : ['  request', indented(request)]),
		...(expected === '' ? [] : ['  expected', indented(expected)]),
		'  got',
		indented(got),
	].join('\n')
}

function indented(text: string): string {
	return text.replaceAll(/^/gm, '    ')
}
