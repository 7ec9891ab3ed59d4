/** Users in SQL. */
@NullMarked
package tern.sample.provider.user;

import org.jspecify.annotations.NullMarked;
