/** The shapes of types in docs/types.md, as an application would write them. */
package com.example.types;
