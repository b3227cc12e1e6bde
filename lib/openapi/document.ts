/** Makes the OpenAPI description of handlers from their declarations. Imported by `openapi.ts` if the option is on. */
import { createHash } from 'node:crypto'
import type { MountFacts } from '../exchange/exchange.ts'
import { pathOfMount } from '../routing/endpoints.ts'
import type { Mount } from '../routing/routing.ts'
import { Components, type Part } from './components.ts'
import { type Endpoint, endpointsOf, Steps } from './endpoints.ts'
import { type Operation, OperationIds, operationOf, tagOf } from './operation.ts'
import type { OpenApiInfo } from './options.ts'

/** The description as JSON, and its digest. */
export interface Description {
	readonly text: string
	readonly digest: string
}

/**
 * The description without `servers`, which may depend on the request. Made in steps, so that other requests are served
 * meanwhile.
 *
 * @param own the description's own mount, which is left out
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
	const paths = await steps.flatMap(pathsOf(all, endpoints), ({ template, names, endpoints: own }) => {
		const operations = own.map((endpoint): [string, Operation] => [
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
		// Only our own tags get a description, not those of `docs`.
		tags: mounts.filter((mount) => tags.has(tagOf(mount))).map(tagObject),
	}
	const byPath = paths.map(({ template, operations }) => [template, Object.fromEntries(operations)] as const)
	// Stringified after all operations, because a part that is used again becomes a reference.
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

/** Characters hashed in one step. */
const CHUNK = 1 << 18

async function digestOf(steps: Steps, text: string): Promise<string> {
	const hash = createHash('sha256')
	const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, at) => at * CHUNK)
	await steps.flatMap(chunks, (from) => {
		hash.update(text.slice(from, from + CHUNK), 'utf16le') // not UTF-8: a chunk may end inside a surrogate pair
		return []
	})
	return hash.digest('base64url')
}

function tagObject(mount: Mount): Part {
	return { name: tagOf(mount), description: `What ${mount.name} answers below ${pathOfMount(mount) || '/'}` }
}

interface DescribedPath {
	/** `/blog/api/article/{id}` */
	readonly template: string
	/** The names of its params. */
	readonly names: readonly string[]
	readonly endpoints: readonly Endpoint[]
}

const PARAM = /\{[^{}]*\}/g

/**
 * Groups endpoints by path. In OpenAPI, templates that differ only in the names of their params are the same path, with
 * one operation for each method. Endpoints that no request reaches are left out.
 *
 * @param mounts all mounts, described or not
 */
function pathsOf(mounts: readonly Mount[], endpoints: readonly Endpoint[]): DescribedPath[] {
	const paths = new Map<string, { template: string; byMethod: Map<string, Endpoint> }>()
	const mountPaths = new Set(mounts.map(pathOfMount))
	for (const endpoint of endpoints) {
		// OpenAPI 3.1 has no QUERY.
		if (endpoint.method === 'QUERY' || isCovered(endpoint, mountPaths)) continue
		const key = endpoint.path.replace(PARAM, '{}')
		const path = paths.get(key) ?? { template: endpoint.path, byMethod: new Map<string, Endpoint>() }
		paths.set(key, path)
		const before = path.byMethod.get(endpoint.method)
		if (before === undefined || comesBefore(endpoint, before)) path.byMethod.set(endpoint.method, endpoint)
	}
	return [...paths.values()].flatMap(({ template, byMethod }) => {
		const names = (template.match(PARAM) ?? []).map((param) => param.slice(1, -1))
		// Filtered last, because a hidden endpoint still shadows others.
		const shown = [...byMethod.values()].filter(({ docs }) => docs.hidden !== true)
		return shown.length === 0 ? [] : [{ template, names, endpoints: shown }]
	})
}

/** Whether a handler with a longer path gets the endpoint's requests. */
function isCovered({ path, mount }: Endpoint, mountPaths: ReadonlySet<string>): boolean {
	const own = pathOfMount(mount).length
	for (let end = path.length; end > own; end = path.lastIndexOf('/', end - 1))
		if (mountPaths.has(path.slice(0, end))) return true
	return false
}

/**
 * Whether an endpoint is described in place of another one with the same path and method. Custom routes come before
 * methods, and the first route wins. But a route that takes only numbers leaves other values to the next endpoint,
 * which is more general, so the next one is described instead.
 */
function comesBefore(endpoint: Endpoint, before: Endpoint): boolean {
	if (endpoint.by !== 'route' || takesNumbers(endpoint)) return false
	return before.by !== 'route' || takesNumbers(before)
}

function takesNumbers({ by, params }: Endpoint): boolean {
	return by === 'route' && params.some(({ schema }) => schema.type === 'integer')
}
