'int main;' 
