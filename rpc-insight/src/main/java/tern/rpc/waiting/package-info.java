/**
 * What threads wait for, and which property to change: stacks, ledgers of running calls and counters of pools become rows
 * of a table.
 */
@NullMarked
package tern.rpc.waiting;

import org.jspecify.annotations.NullMarked;
