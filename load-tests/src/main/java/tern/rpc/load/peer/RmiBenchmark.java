package tern.rpc.load.peer;

import java.rmi.Remote;
import java.rmi.RemoteException;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;

/** The calls in the comparison as an RMI remote interface. */
public interface RmiBenchmark extends Remote {

    boolean existUser(String email) throws RemoteException;

    boolean createUser(User user) throws RemoteException;

    User getUser(long id) throws RemoteException;

    Page<User> listUser(int pageNo) throws RemoteException;

    String echo(String text) throws RemoteException;

    Person echo(Person person) throws RemoteException;

    String build(int times) throws RemoteException;
}
