package tern.rpc.serialization.json;

import tools.jackson.core.Version;
import tools.jackson.databind.JacksonModule;

/**
 * Adds the objects that create instances from JSON. Jackson calls the instantiators of the first module last, so this
 * module is registered before the application's modules. This order is necessary, because the modules for Kotlin and
 * Scala reject an instantiator that another module has wrapped.
 */
final class WireInstantiators extends JacksonModule {

    @Override
    public String getModuleName() {
        return "tern-rpc-instantiators";
    }

    @Override
    public Version version() {
        return Version.unknownVersion();
    }

    @Override
    public void setupModule(SetupContext context) {
        context.addValueInstantiators(new RoomOfObjects());
        context.addValueInstantiators(new QuickConstructors()); // Jackson calls QuickConstructors before RoomOfObjects.
    }
}
