/** The OpenAPI description of handlers, made from what they declare. Imported by `openapi.ts` where the option is on. */
import { createHash } from 'node:crypto'
import type { MountFacts } from '../exchange/exchange.ts'
import type { Mount } from '../routing/routing.ts'
import { Components, type Part } from './components.ts'
import { type Endpoint, endpointsOf, pathOfMount, Steps } from './endpoints.ts'
import { type Operation, OperationIds, operationOf, tagOf } from './operation.ts'
import type { OpenApiInfo } from './options.ts'

/** The description as JSON, and its digest. */
export interface Description {
	readonly text: string
	readonly digest: string
}

/**
 * The description without `servers`, which may depend on the request. It is made in steps, between which other requests
 * are answered.
 *
 * @param all all mounts
 * @param own the description's own, which is left out
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
		// Tags of `docs` get no description: they are named by the programmer.
		tags: mounts.filter((mount) => tags.has(tagOf(mount))).map(describedTag),
	}
	const byPath = paths.map(({ template, operations }) => [template, Object.fromEntries(operations)] as const)
	// Stringified after all operations, as a part that is used again becomes a reference.
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

/** Characters that are hashed in one step. */
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

/** An operation, and what its path calls its params. */
interface PlacedEndpoint {
	readonly endpoint: Endpoint
	/** Those of the first endpoint with this path. */
	readonly names: readonly string[]
}

interface DescribedPath {
	/** `/blog/api/article/{id}` */
	readonly template: string
	readonly endpoints: readonly PlacedEndpoint[]
}

/** OpenAPI 3.1 has no QUERY. */
const UNSAID = 'QUERY'

const PARAM = /\{[^{}]*\}/g

/**
 * The paths of endpoints, in their order. In OpenAPI two templates that differ in the names of their params are one path,
 * and a path has one operation for each method: endpoints that no request reaches are left out.
 *
 * @param mounts all mounts, described or not
 */
function pathsOf(mounts: readonly Mount[], endpoints: readonly Endpoint[]): DescribedPath[] {
	const paths = new Map<string, { template: string; byMethod: Map<string, Endpoint> }>()
	const deeper = new Set(mounts.map(pathOfMount))
	for (const endpoint of endpoints) {
		if (endpoint.method === UNSAID || isCovered(endpoint, deeper)) continue
		const key = endpoint.path.replace(PARAM, '{}')
		const path = paths.get(key) ?? { template: endpoint.path, byMethod: new Map<string, Endpoint>() }
		paths.set(key, path)
		const before = path.byMethod.get(endpoint.method)
		if (before === undefined || comesBefore(endpoint, before)) path.byMethod.set(endpoint.method, endpoint)
	}
	return [...paths.values()].flatMap(({ template, byMethod }) => {
		const names = (template.match(PARAM) ?? []).map((param) => param.slice(1, -1))
		// Not earlier: a hidden endpoint still covers those behind it.
		const shown = [...byMethod.values()].filter(({ docs }) => docs.hidden !== true)
		return shown.length === 0 ? [] : [{ template, endpoints: shown.map((endpoint) => ({ endpoint, names })) }]
	})
}

/** Whether another handler answers, as the longest handler path wins. */
function isCovered({ path, mount }: Endpoint, mounts: ReadonlySet<string>): boolean {
	const own = pathOfMount(mount).length
	for (let end = path.length; end > own; end = path.lastIndexOf('/', end - 1))
		if (mounts.has(path.slice(0, end))) return true
	return false
}

/**
 * Custom routes come before the lookup, and the first of them wins. One that takes only numbers leaves other values to
 * the endpoint behind it, whose description is the more general.
 */
function comesBefore(endpoint: Endpoint, before: Endpoint): boolean {
	if (endpoint.by !== 'route' || takesNumbers(endpoint)) return false
	return before.by !== 'route' || takesNumbers(before)
}

function takesNumbers({ by, params }: Endpoint): boolean {
	return by === 'route' && params.some(({ schema }) => schema.type === 'integer')
}
