/** The OpenAPI description of handlers, made of what they declare. */
import { endpointsOf, pathOfMount } from '../describe/endpoints.ts'
import type { MountFacts } from '../mount/facts.ts'
import type { Mount } from '../mount/mount.ts'
import { Components, type Part } from './components.ts'
import { type Operation, operationOf, tagOf } from './operation.ts'
import { OperationIds } from './operation-ids.ts'
import type { OpenApiInfo } from './options.ts'
import { pathsOf } from './paths.ts'

/**
 * The description, but for `servers`, which may depend on the request. It is JSON for `JSON.stringify` alone.
 *
 * @param all mounts that there are
 * @param own the one that isn't described
 */
export function openApiDocument(all: readonly Mount[], info: OpenApiInfo, own: MountFacts | undefined): Part {
	const mounts = all.filter((mount) => mount !== own)
	const components = new Components()
	const ids = new OperationIds()
	const { title, version, description, license, requestId } = info
	const paths = pathsOf(all, mounts.flatMap(endpointsOf)).map(({ template, endpoints }) => ({
		template,
		operations: endpoints.map(({ endpoint, names }): [string, Operation] => [
			endpoint.method.toLowerCase(),
			operationOf(components, endpoint, { id: ids.of(endpoint), names, requestId }),
		]),
	}))
	const tags = new Set(paths.flatMap(({ operations }) => operations.flatMap(([, one]) => one.tags)))
	return {
		openapi: '3.1.1',
		info: {
			...{ title, version },
			...(description === undefined ? {} : { description }),
			...(license === undefined ? {} : { license }),
		},
		// Those of `docs` are not described: they say themselves what they are.
		tags: mounts.filter((mount) => tags.has(tagOf(mount))).map(describedTag),
		paths: Object.fromEntries(
			paths.map(({ template, operations }) => [template, Object.fromEntries(operations)]),
		),
		components: components.toJSON(),
	}
}

function describedTag(mount: Mount): Part {
	return { name: tagOf(mount), description: `What ${mount.name} answers below ${pathOfMount(mount) || '/'}` }
}
