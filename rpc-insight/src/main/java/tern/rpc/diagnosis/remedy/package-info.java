/** Checks by replaying recorded calls whether a changed pool size meets the latency target. */
@NullMarked
package tern.rpc.diagnosis.remedy;

import org.jspecify.annotations.NullMarked;
