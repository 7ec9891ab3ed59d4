/**
 * Chooses the provider of each attempt from the list that a source reports. The steps are: coalesce changes, keep the
 * last good list, route, choose a subset, connect, score, and pick.
 */
@NullMarked
package tern.rpc.cluster;

import org.jspecify.annotations.NullMarked;
