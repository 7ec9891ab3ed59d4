/** The shapes of types that docs/types.md is about, as an application may have them. */
package com.example.types;
