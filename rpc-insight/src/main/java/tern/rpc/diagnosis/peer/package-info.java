/**
 * Decides whether one peer (an HTTP peer, a provider or a Redis server) is the cause, and merges the time of its
 * operations. The rules apply in this order:
 *
 * <ol>
 *   <li>{@link FailedPeers}: waits for a peer that accepts no connections belong to its failure.
 *   <li>{@link SilentPeers}: the operations on a peer that does not answer are one cause.
 *   <li>{@link FailedProviders}: the failures of several operations of a peer are one cause.
 *   <li>{@link OneSlowPeer}: the operations on the only slow peer are one cause, even if processors are busy.
 *   <li>{@link SickPeers}: all remaining causes of the same peer are one cause.
 * </ol>
 */
@NullMarked
package tern.rpc.diagnosis.peer;

import org.jspecify.annotations.NullMarked;
