/**
 * From the list of a source to the provider of one attempt: coalesce, keep the last good list, route, choose a subset,
 * connect, score and pick.
 */
@NullMarked
package tern.rpc.cluster;

import org.jspecify.annotations.NullMarked;
