/**
 * Turns the list of a source into the provider of one attempt. The steps are: coalesce changes, keep the last good
 * list, route, choose a subset, connect, score and pick.
 */
@NullMarked
package tern.rpc.cluster;

import org.jspecify.annotations.NullMarked;
