/** Rules that turn snapshots of pools and calls into advice: arithmetic alone. */
@org.jspecify.annotations.NullMarked
package tern.rpc.advice;
