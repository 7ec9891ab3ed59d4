package tern.rpc.load.cluster;

/** A client of one framework that finds the providers of {@link NodeService} through ZooKeeper. */
interface ConsumerClient extends AutoCloseable {

    NodeService service();

    @Override
    void close();
}
