/** The OpenAPI description of handlers, made of what they declare. */
import { createHash } from 'node:crypto'
import type { MountFacts } from '../exchange/exchange.ts'
import type { Mount } from '../routing/mount.ts'
import { Components, type Part } from './components.ts'
import { endpointsOf, pathOfMount } from './endpoints.ts'
import { type Operation, operationOf, tagOf } from './operation.ts'
import { OperationIds } from './operation-ids.ts'
import type { OpenApiInfo } from './options.ts'
import { pathsOf } from './paths.ts'
import { Steps } from './steps.ts'

/** What has been described: a text as JSON, and the digest of it. */
export interface Description {
	readonly text: string
	readonly digest: string
}

/**
 * The description as JSON, but for `servers`, which may depend on the request. It is made in pieces, between which
 * other requests are answered.
 *
 * @param all mounts that there are
 * @param own the one that isn't described
 */
export async function openApiText(
	all: readonly Mount[],
	info: OpenApiInfo,
	own: MountFacts | undefined,
): Promise<Description> {
	const mounts = all.filter((mount) => mount !== own)
	const components = new Components()
	const ids = new OperationIds()
	const { title, version, description, license, requestId } = info
	const steps = new Steps()
	const endpoints = await steps.flatMap(mounts, endpointsOf)
	const paths = await steps.flatMap(pathsOf(all, endpoints), ({ template, endpoints: placed }) => {
		const operations = placed.map(({ endpoint, names }): [string, Operation] => [
			endpoint.method.toLowerCase(),
			operationOf(components, endpoint, { id: ids.of(endpoint), names, requestId }),
		])
		return [{ template, operations }]
	})
	const tags = new Set(paths.flatMap(({ operations }) => operations.flatMap(([, one]) => one.tags)))
	const head = {
		openapi: '3.1.1',
		info: {
			...{ title, version },
			...(description === undefined ? {} : { description }),
			...(license === undefined ? {} : { license }),
		},
		// Those of `docs` are not described: they say themselves what they are.
		tags: mounts.filter((mount) => tags.has(tagOf(mount))).map(describedTag),
	}
	const byPath = paths.map(({ template, operations }) => [template, Object.fromEntries(operations)] as const)
	// Only now: a part is a reference where it was used again.
	const pathsText = await objectText(steps, byPath)
	const kinds: string[] = []
	for (const [kind, parts] of Object.entries(components.toJSON()))
		kinds.push(`${JSON.stringify(kind)}:${await objectText(steps, Object.entries(parts))}`)
	const text = `${JSON.stringify(head).slice(0, -1)},"paths":${pathsText},"components":{${kinds.join()}}}`
	return { text, digest: await digestOf(steps, text) }
}

async function objectText(steps: Steps, entries: readonly (readonly [string, Part])[]): Promise<string> {
	const texts = await steps.flatMap(entries, ([name, part]) => [
		`${JSON.stringify(name)}:${JSON.stringify(part)}`,
	])
	return `{${texts.join()}}`
}

/** Characters that are hashed at once. */
const CHUNK = 1 << 18

async function digestOf(steps: Steps, text: string): Promise<string> {
	const hash = createHash('sha256')
	const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, at) => at * CHUNK)
	await steps.flatMap(chunks, (from) => {
		hash.update(text.slice(from, from + CHUNK), 'utf16le') // as a pair of surrogates may be cut in two
		return []
	})
	return hash.digest('base64url')
}

function describedTag(mount: Mount): Part {
	return { name: tagOf(mount), description: `What ${mount.name} answers below ${pathOfMount(mount) || '/'}` }
}
