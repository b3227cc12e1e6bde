/** The error for a path that no handler answers. */
import { NOT_FOUND, RestError } from '../base/error.ts'
import type { Mounted, MountTree } from './mount.ts'
import { unknownVersion } from './versions.ts'

/** Says which versions there are, where the path asks for another one: `/blog/v9/article`. */
export function notFound(
	mounts: MountTree,
	mounted: Mounted | undefined,
	segments: readonly string[],
): RestError {
	const unknown = mounts.unknown(segments)
	if (unknown === undefined) return NOT_FOUND
	const { at, others } = unknown
	// It is a resource of the handler's own.
	if (mounted?.depth === at && mounted.mount.table.knows(segments, at)) return NOT_FOUND
	const message = unknownVersion(segments[at] ?? '', others)
	return message === undefined ? NOT_FOUND : new RestError('not_found', message)
}
