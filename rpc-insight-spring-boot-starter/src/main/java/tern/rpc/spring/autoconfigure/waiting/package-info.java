/** The waiting report of an application: made of its server, pools and classifiers, and logged when the target is missed. */
@NullMarked
package tern.rpc.spring.autoconfigure.waiting;

import org.jspecify.annotations.NullMarked;
